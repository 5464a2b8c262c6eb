"""Tokens of an OIDC provider, checked here: signature, algorithm, issuer, audience and times.

Only the three asymmetric algorithms of ALGORITHMS are taken, whatever a token or a key set says: `none` and those
with a shared secret never are. A token cannot bring its own key. The provider's key set is kept for an hour at most,
and asked for again when a token names a key that is not in it, once a minute at most.
"""

import base64
import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.errors import IdentityProviderUnavailableError

if TYPE_CHECKING:
    from joserfc.jwa import JWSAlgModel
    from joserfc.jwk import Key
    from urllib3 import BaseHTTPResponse

ALGORITHMS: dict[str, str] = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
"""Algorithms that are taken, and the kind of key of each."""
LEEWAY_S = 60
KEYS_KEPT_S = 3_600
ASK_AGAIN_S = 60
RETRY_S = 5
RSA_BITS_MIN = 2_048
KEY_SET_MAX_BYTES = 1_000_000
KEY_SET_TIMEOUT_S = 3.0

KeySetSource = Callable[[], Mapping[str, Any]]
"""Gives the provider's JWK set. Raises IdentityProviderUnavailableError; waits no longer than its own time-out."""


class OidcTokens:
    """Checks tokens of one provider for one audience. Safe to share between threads."""

    def __init__(self, issuer: str, audience: str, key_set: KeySetSource) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = _KeptKeys(key_set)

    def claims(self, token: str, now: datetime) -> Mapping[str, object] | None:
        header = _json_object(token.partition(".")[0])
        if header is None or header.keys() & {"crit", "b64"}:
            return None
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(kid, str | None):
            return None
        key = self._keys.find(kid, algorithm, now.timestamp())
        if key is None or not _signed_by(key, algorithm, token):
            return None
        claims = _json_object(token.split(".")[1])
        return claims if claims is not None and self._hold(claims, now.timestamp()) else None

    def _hold(self, claims: Mapping[str, object], now: float) -> bool:
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != self._issuer or self._audience not in audiences:
            return False
        expires, issued, begins = (_seconds(claims.get(name)) for name in ("exp", "iat", "nbf"))
        if expires is None or issued is None or (begins is None and "nbf" in claims):
            return False
        return expires + LEEWAY_S > now and max(issued, begins or issued) - LEEWAY_S <= now


class _KeptKeys:
    """The provider's keys as last read. One thread reads at a time; the others wait for it."""

    def __init__(self, source: KeySetSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._keys: list[Key] = []
        self._read_at = -math.inf
        self._asked_at = -math.inf

    def find(self, kid: str | None, algorithm: str, now: float) -> "Key | None":
        """The key that a token names, or (a token that names none) the only one there is for its algorithm."""
        with self._lock:
            if now - self._read_at >= KEYS_KEPT_S:
                self._ask(now, RETRY_S)
            found = self._pick(kid, algorithm)
            if found is None and now - self._asked_at >= ASK_AGAIN_S:
                self._ask(now, ASK_AGAIN_S)
                found = self._pick(kid, algorithm)
            return found

    def _pick(self, kid: str | None, algorithm: str) -> "Key | None":
        fitting = [key for key in self._keys if key.key_type == ALGORITHMS[algorithm]]
        if kid is None:
            return fitting[0] if len(fitting) == 1 else None
        return next((key for key in fitting if key.kid == kid), None)

    def _ask(self, now: float, pause: float) -> None:
        """Read the key set anew. Raises IdentityProviderUnavailableError, at once when the last try was just now."""
        if now - self._asked_at < pause:
            raise IdentityProviderUnavailableError("the provider's keys could not be read a moment ago")
        self._asked_at = now
        keys = self._source().get("keys")
        if not isinstance(keys, list):
            raise IdentityProviderUnavailableError("what the provider gave is not a key set")
        self._keys = [key for key in (_imported(key) for key in keys) if key is not None]
        self._read_at = now


def _imported(jwk: object) -> "Key | None":
    """A public key as a key set holds it; None for one that is of no use here."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry
    from joserfc.util import base64_to_int

    if not isinstance(jwk, dict) or jwk.get("kty") not in ALGORITHMS.values():
        return None
    try:
        if jwk["kty"] == "RSA" and base64_to_int(jwk["n"]).bit_length() < RSA_BITS_MIN:
            return None
        return JWKRegistry.import_key(jwk)
    except (JoseError, KeyError, ValueError, TypeError):  # a broken key must not hide the good ones beside it
        return None


def _signed_by(key: "Key", algorithm: str, token: str) -> bool:
    from joserfc.errors import JoseError
    from joserfc.util import urlsafe_b64decode

    signed, _, signature = token.rpartition(".")
    if signed.count(".") != 1:
        return False
    model = _model(algorithm)
    try:
        model.check_key(key)
        return model.verify(signed.encode("ascii"), urlsafe_b64decode(signature.encode("ascii")), key)
    except (JoseError, ValueError):
        return False


def _model(algorithm: str) -> "JWSAlgModel":
    from joserfc.jwa import EdDSAAlgorithm, ESAlgorithm, RSAAlgorithm

    if algorithm == "RS256":
        return RSAAlgorithm(256)
    return ESAlgorithm("ES256", "P-256", 256) if algorithm == "ES256" else EdDSAAlgorithm()


def _json_object(part: str) -> dict[str, Any] | None:
    """A part of a token as the JSON object that it encodes, or None."""
    try:
        value = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), b"-_", validate=True))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _seconds(value: object) -> float | None:
    """A time in a token: a finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def key_set_at(url: str, timeout_s: float = KEY_SET_TIMEOUT_S) -> KeySetSource:
    """The provider's JWK set at `url`, read over HTTPS (plain HTTP only from this machine); follows no redirect.

    Raises ValueError at once for another URL.
    """
    parts = urlsplit(url)
    here = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and here)):
        raise ValueError("the key set of the identity provider is read over https")
    return partial(_read, url, timeout_s)


def _read(url: str, timeout_s: float) -> Mapping[str, Any]:
    import urllib3

    until = time.monotonic() + timeout_s
    try:
        with urllib3.PoolManager(timeout=urllib3.Timeout(total=timeout_s), retries=False) as pool:
            headers = {"Accept": "application/json"}
            answer = pool.request("GET", url, headers=headers, redirect=False, preload_content=False)
            with answer:
                body = _whole(answer, until)
    except urllib3.exceptions.HTTPError as error:
        raise IdentityProviderUnavailableError(f"its keys cannot be read: {type(error).__name__}") from error
    if answer.status != 200 or len(body) > KEY_SET_MAX_BYTES:
        raise IdentityProviderUnavailableError(f"its keys cannot be read: status {answer.status}")
    return _parsed(body)


def _whole(answer: "BaseHTTPResponse", until: float) -> bytes:
    """The body, or as much of it as shows that it is too large. The library's time-out is one of silence, so an answer
    that comes drop by drop is given up here."""
    body = bytearray()
    while len(body) <= KEY_SET_MAX_BYTES and (chunk := answer.read1(1 << 16)):
        body += chunk
        if time.monotonic() > until:
            raise IdentityProviderUnavailableError("its keys cannot be read: the answer takes too long")
    return bytes(body)


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise IdentityProviderUnavailableError("what the provider gave is not JSON") from error
    if not isinstance(value, dict):
        raise IdentityProviderUnavailableError("what the provider gave is not a key set")
    return value
