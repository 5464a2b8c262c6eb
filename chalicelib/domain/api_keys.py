"""API keys as they are pasted: `plm_<id>_<secret>_<checksum>`. Only the SHA-256 of the secret is ever kept.

plm       says whose key it is, so that scanners of leaked secrets can match it (SCANNER_PATTERN)
id        26 characters: which key; not secret
secret    33 characters of base62: 196 bits
checksum  6 characters of base62: CRC-32 of all before it. It tells a mistyped key from a wrong one without
          a look at the store; it is no protection, the secret is.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass, field

from chalicelib.domain.ids import new_id

SECRET_CHARS = 33
CHECKSUM_CHARS = 6
SCANNER_PATTERN = r"plm_[0-9a-hjkmnp-tv-z]{26}_[0-9A-Za-z]{33}_[0-9A-Za-z]{6}"

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(SCANNER_PATTERN)


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key. `plain` is shown once and then forgotten; it stays out of any `repr`."""

    plain: str = field(repr=False)
    id: str
    secret_hash: str


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """What a well-formed key says: which key it is, and its secret (which stays out of any `repr`)."""

    id: str
    secret: str = field(repr=False)


def mint() -> MintedKey:
    """A fresh key with a secret of 196 random bits."""
    identifier = new_id("key")
    secret = "".join(secrets.choice(_BASE62) for _ in range(SECRET_CHARS))
    body = f"plm_{identifier.removeprefix('key_')}_{secret}"
    return MintedKey(plain=f"{body}_{_checksum(body)}", id=identifier, secret_hash=hash_secret(secret))


def parse(text: object) -> ParsedKey | None:
    """The parts of a key, or None when `text` is not one: another form, or a checksum that does not fit.

    Every mistyped character, and every two neighbours exchanged, is noticed.
    """
    if not isinstance(text, str) or _KEY.fullmatch(text) is None:
        return None
    body, _, checksum = text.rpartition("_")
    if checksum != _checksum(body):
        return None
    _, identifier, secret = body.split("_")
    return ParsedKey(id=f"key_{identifier}", secret=secret)


def hash_secret(secret: str) -> str:
    """What is kept of a secret: its SHA-256 in hexadecimal. It is random, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8")).hexdigest()


def secret_fits(secret: str, secret_hash: str) -> bool:
    """Whether `secret` is the one that `secret_hash` was made of; takes the same time for every answer."""
    return hmac.compare_digest(hash_secret(secret), secret_hash)


def _checksum(body: str) -> str:
    value = zlib.crc32(body.encode("ascii"))
    digits = []
    for _ in range(CHECKSUM_CHARS):
        value, digit = divmod(value, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))
