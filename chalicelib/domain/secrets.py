"""Does a text look as if it held a password, token or key? (M16)"""

import re

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"\bplm_[A-Za-z0-9]+_[A-Za-z0-9]{20,}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"\b[MN][A-Za-z0-9_-]{23,}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
        r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@",
        r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/_=.-]{16,}",
        (
            r"(?i)\b(?:pass(?:word|wd|phrase|code)?|pwd|pin|heslo\w*|парол[ьяею]\w*|секрет\w*|secret|token|"
            r"api[ _-]?key|access[ _-]?key|klíč\s+api|ключ\s+api)\b"
            r"(?:\s+(?:is|je|to|for|k|na|от|для|это|равен)(?:\s+\S+)?)?\s*(?:[:=]|\bis\b|\bje\b|-|—|–)\s*[\"'`]?\S{4,}"
        ),
    )
)


def looks_like_secret(text: str) -> bool:
    """True when `text` contains what looks like a credential; a warning, never a refusal, for explicit saves."""
    return any(pattern.search(text) for pattern in _PATTERNS)
