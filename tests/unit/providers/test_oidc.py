"""Tokens of the OIDC provider: only what the provider itself signed, for us, now, opens a door."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from joserfc.jwa import EdDSAAlgorithm, ESAlgorithm, HMACAlgorithm, RSAAlgorithm
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey
from joserfc.util import base64_to_int, int_to_base64

from chalicelib.errors import IdentityProviderUnavailableError
from chalicelib.providers.oidc import KEY_SET_MAX_BYTES, OidcTokens, key_set_at

ISSUER = "https://id.example.org/"
AUDIENCE = "palimpsest"
NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
MODELS = {
    "RS256": RSAAlgorithm(256),
    "RS512": RSAAlgorithm(512),
    "ES256": ESAlgorithm("ES256", "P-256", 256),
    "EdDSA": EdDSAAlgorithm(),
    "HS256": HMACAlgorithm(256),
}
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig", "alg": "RS256"})
EC = ECKey.generate_key("P-256", {"kid": "ec"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed", "alg": "EdDSA"})
KEYS: dict[str, Any] = {"RS256": RSA, "ES256": EC, "EdDSA": ED}


class Provider:
    """An OIDC provider whose key set can be changed, counted and taken down."""

    def __init__(self, *keys: Any) -> None:
        self.keys: Any = [key.as_dict(private=False) for key in keys]
        self.asked = 0
        self.down = False

    def __call__(self) -> Mapping[str, Any]:
        self.asked += 1
        if self.down:
            raise IdentityProviderUnavailableError("down")
        return {"keys": self.keys}


def encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def claims(**other: Any) -> dict[str, Any]:
    stated = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "u1",
        "iat": NOW.timestamp(),
        "exp": NOW.timestamp() + 300,
    }
    return {name: value for name, value in {**stated, **other}.items() if value is not ...}


def token(algorithm: str = "RS256", key: Key | None = None, header: Any = None, body: Any = None) -> str:
    key = key or KEYS[algorithm]
    header = header if header is not None else {"alg": algorithm, "kid": key.kid, "typ": "JWT"}
    signed = f"{encoded(header)}.{encoded(claims() if body is None else body)}"
    return f"{signed}.{encoded(MODELS[algorithm].sign(signed.encode(), key))}"


@pytest.fixture
def provider() -> Provider:
    return Provider(RSA, EC, ED)


@pytest.fixture
def tokens(provider: Provider) -> OidcTokens:
    return OidcTokens(ISSUER, AUDIENCE, provider)


@pytest.mark.parametrize("algorithm", sorted(KEYS))
def test_a_token_of_each_taken_algorithm_gives_its_claims(tokens: OidcTokens, algorithm: str) -> None:
    assert tokens.claims(token(algorithm), NOW) == claims()


def test_one_of_several_audiences_is_enough(tokens: OidcTokens) -> None:
    assert tokens.claims(token(body=claims(aud=["other", AUDIENCE])), NOW)


def test_a_header_that_names_no_key_is_taken_when_only_one_key_can_be_meant() -> None:
    assert OidcTokens(ISSUER, AUDIENCE, Provider(RSA, EC)).claims(token(header={"alg": "RS256"}), NOW)
    other = RSAKey.generate_key(2048, {"kid": "other"})
    assert (
        OidcTokens(ISSUER, AUDIENCE, Provider(RSA, other)).claims(token(header={"alg": "RS256"}), NOW) is None
    )


@pytest.mark.parametrize(
    "body",
    [
        claims(iss=...),
        claims(iss="https://id.example.org"),
        claims(iss=[ISSUER]),
        claims(aud=...),
        claims(aud="palimpsest2"),
        claims(aud=[]),
        claims(aud={AUDIENCE: 1}),
        claims(exp=...),
        claims(exp=None),
        claims(exp=True),
        claims(exp="9999999999"),
        claims(exp=float("nan")),
        claims(exp=float("inf")),
        claims(exp=10**400),
        claims(exp=NOW.timestamp() - 60),
        claims(iat=...),
        claims(iat=NOW.timestamp() + 61),
        claims(nbf=NOW.timestamp() + 61),
        claims(nbf="now"),
        claims(nbf=None),
        [claims()],
        "text",
        7,
        None,
        b"\xff\xfe",
        b"{",
        b"[" * 5000,
    ],
    ids=range(27),
)
def test_claims_that_do_not_hold_open_nothing(tokens: OidcTokens, body: Any) -> None:
    body = b"null" if body is None else body
    assert tokens.claims(token(body=body), NOW) is None


@pytest.mark.parametrize(
    "body",
    [
        claims(exp=NOW.timestamp() - 59),
        claims(iat=NOW.timestamp() + 60),
        claims(nbf=NOW.timestamp() + 60),
        claims(nbf=0),
    ],
    ids=["exp", "iat", "nbf", "long valid"],
)
def test_clocks_may_differ_by_a_minute(tokens: OidcTokens, body: Any) -> None:
    assert tokens.claims(token(body=body), NOW) is not None


def test_no_token_without_a_signature_is_taken(tokens: OidcTokens) -> None:
    for algorithm in ("none", "None", "NONE", "", "RS256"):
        signed = f"{encoded({'alg': algorithm, 'kid': 'rsa'})}.{encoded(claims())}"
        assert tokens.claims(f"{signed}.", NOW) is None
        assert tokens.claims(signed, NOW) is None


def test_a_public_key_is_never_taken_as_a_shared_secret(tokens: OidcTokens) -> None:
    signed = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(claims())}"
    forged = hmac.digest(RSA.as_pem(private=False), signed.encode(), "sha256")
    assert tokens.claims(f"{signed}.{encoded(forged)}", NOW) is None


def test_a_shared_secret_in_the_key_set_is_of_no_use() -> None:
    secret = OctKey.import_key("0" * 64, {"kid": "oct"})
    provider = Provider()
    provider.keys = [secret.as_dict(private=True)]
    for algorithm in ("HS256", "RS256"):
        forged = token("HS256", secret, header={"alg": algorithm, "kid": "oct"})
        assert OidcTokens(ISSUER, AUDIENCE, provider).claims(forged, NOW) is None


def test_an_algorithm_that_is_not_listed_is_refused_even_with_the_right_key() -> None:
    key = RSAKey.import_key(RSA.as_dict(private=True, use="sig", alg="RS512"))
    assert OidcTokens(ISSUER, AUDIENCE, Provider(key)).claims(token("RS512", key), NOW) is None


def test_a_key_for_another_use_or_algorithm_is_refused() -> None:
    for other in ({"use": "enc"}, {"alg": "PS256"}, {"key_ops": ["encrypt"]}):
        jwk = {**RSA.as_dict(private=False), **other}
        provider = Provider()
        provider.keys = [{name: value for name, value in jwk.items() if name != "use" or "use" in other}]
        assert OidcTokens(ISSUER, AUDIENCE, provider).claims(token(), NOW) is None


def test_a_key_of_another_curve_is_refused() -> None:
    p384 = ECKey.generate_key("P-384", {"kid": "ec"})
    x25519 = OKPKey.generate_key("X25519", {"kid": "ed"})
    tokens = OidcTokens(ISSUER, AUDIENCE, Provider(p384, x25519))
    assert tokens.claims(token("ES256"), NOW) is None
    assert tokens.claims(token("EdDSA"), NOW) is None


def test_a_short_rsa_key_is_of_no_use() -> None:
    modulus = base64_to_int(RSA.as_dict(private=False)["n"])
    provider = Provider(RSA)
    provider.keys[0]["n"] = int_to_base64(modulus >> 1024 | 1)
    assert OidcTokens(ISSUER, AUDIENCE, provider).claims(token(), NOW) is None


def test_a_token_cannot_bring_its_own_key(tokens: OidcTokens) -> None:
    mine = RSAKey.generate_key(2048, {"kid": "rsa"})
    header = {
        "alg": "RS256",
        "kid": "rsa",
        "jwk": mine.as_dict(private=False),
        "jku": "https://evil.example/keys",
    }
    assert tokens.claims(token(key=mine, header=header), NOW) is None


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "RS256", "kid": "rsa", "crit": ["exp"], "exp": 1},
        {"alg": "RS256", "kid": "rsa", "b64": False},
        {"alg": "RS256", "kid": 7},
        {"alg": "RS256", "kid": ["rsa"]},
        {"alg": "RS256", "kid": "unknown"},
        {"alg": ["RS256"], "kid": "rsa"},
        {"alg": None, "kid": "rsa"},
        {"kid": "rsa"},
        ["RS256"],
        "RS256",
    ],
    ids=range(10),
)
def test_a_header_that_we_do_not_understand_opens_nothing(tokens: OidcTokens, header: Any) -> None:
    assert tokens.claims(token(header=header), NOW) is None


def test_a_changed_token_opens_nothing(tokens: OidcTokens) -> None:
    header, body, signature = token("ES256").split(".")
    other = encoded(claims(sub="somebody else"))
    for forged in (
        f"{header}.{other}.{signature}",
        f"{header}.{body}.{signature[:-4]}AAAA",
        f"{header}.{body}.{signature}=",
        f"{header}.{body}.*{signature}",
        f"{header}.{body}.{signature}é",
        f"{header}.{body}",
        f"{header}..{signature}",
        f"{header}.{body}.{signature}.x",
        f".{body}.{signature}",
        "",
        ".",
        "..",
        "é..",
    ):
        assert tokens.claims(forged, NOW) is None


def test_keys_are_read_once_an_hour(tokens: OidcTokens, provider: Provider) -> None:
    for minutes in range(0, 60, 7):
        assert tokens.claims(token(), NOW + timedelta(minutes=minutes) if minutes < 5 else NOW)
    assert provider.asked == 1
    later = NOW + timedelta(hours=1)
    assert tokens.claims(token(body=claims(iat=later.timestamp(), exp=later.timestamp() + 60)), later)
    assert provider.asked == 2


def test_a_withdrawn_key_ends_with_the_hour(tokens: OidcTokens, provider: Provider) -> None:
    later = NOW + timedelta(hours=1)
    lasting = token(body=claims(exp=later.timestamp() + 300))
    assert tokens.claims(lasting, NOW)
    provider.keys = Provider(EC).keys
    assert tokens.claims(lasting, later) is None


def test_a_new_key_is_found_but_unknown_ones_are_asked_for_once_a_minute(provider: Provider) -> None:
    tokens = OidcTokens(ISSUER, AUDIENCE, provider)
    new = RSAKey.generate_key(2048, {"kid": "new"})
    assert tokens.claims(token(key=new), NOW) is None
    for seconds in range(59):
        assert (
            tokens.claims(
                token(header={"alg": "RS256", "kid": f"k{seconds}"}), NOW + timedelta(seconds=seconds)
            )
            is None
        )
    assert provider.asked == 1
    provider.keys = Provider(RSA, new).keys
    assert tokens.claims(token(key=new), NOW + timedelta(seconds=60))
    assert provider.asked == 2


def test_while_the_provider_is_down_known_keys_go_on_and_no_token_is_called_wrong(provider: Provider) -> None:
    tokens = OidcTokens(ISSUER, AUDIENCE, provider)
    provider.down = True
    for _ in range(3):  # asked once; then refused at once, without waiting for a time-out each
        with pytest.raises(IdentityProviderUnavailableError):
            tokens.claims(token(), NOW)
    assert provider.asked == 1
    provider.down = False
    assert tokens.claims(token(), NOW + timedelta(seconds=5))
    provider.down = True
    assert tokens.claims(token(), NOW + timedelta(seconds=90))


@pytest.mark.parametrize("keys", [None, "keys", {"kid": 1}])
def test_what_is_not_a_key_set_is_said_to_be_unavailable(keys: Any, provider: Provider) -> None:
    provider.keys = keys
    with pytest.raises(IdentityProviderUnavailableError):
        OidcTokens(ISSUER, AUDIENCE, provider).claims(token(), NOW)


def test_a_broken_key_does_not_hide_the_good_ones(provider: Provider) -> None:
    broken = [
        7,
        None,
        {},
        {"kty": "RSA"},
        {"kty": "RSA", "n": 7, "e": "AQAB"},
        {"kty": "EC", "crv": "P-256", "x": "!"},
    ]
    odd = [
        {"kty": ["RSA"]},
        {"kty": "AKP"},
        {**RSA.as_dict(private=False), "kid": 7},
        {"kty": "RSA", "n": "*", "e": "AQAB"},
    ]
    provider.keys = [*broken, *odd, *provider.keys]
    assert OidcTokens(ISSUER, AUDIENCE, provider).claims(token(), NOW)


class Answers(BaseHTTPRequestHandler):
    """A small web server that answers what the path says."""

    def do_GET(self) -> None:
        if self.path == "/drops":
            self._drop_by_drop()
            return
        status, body = {
            "/keys": (200, b'{"keys": []}'),
            "/prose": (200, b"<html>"),
            "/list": (200, b"[]"),
            "/long": (200, b'{"keys": ["' + b"x" * KEY_SET_MAX_BYTES + b'"]}'),
            "/moved": (302, b""),
        }.get(self.path, (404, b"{}"))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/keys")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drop_by_drop(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        with suppress(OSError):  # the other side has had enough
            for _ in range(1_000):
                self.wfile.write(b" ")
                time.sleep(0.02)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing on the terminal."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_key_set_is_read_from_its_address(web: str) -> None:
    assert key_set_at(f"{web}/keys")() == {"keys": []}


@pytest.mark.parametrize("path", ["/nothing", "/prose", "/list", "/long", "/moved"])
def test_any_other_answer_is_said_to_be_unavailable(web: str, path: str) -> None:
    with pytest.raises(IdentityProviderUnavailableError):
        key_set_at(f"{web}{path}")()


def test_a_provider_that_does_not_answer_is_said_to_be_unavailable() -> None:
    with pytest.raises(IdentityProviderUnavailableError):
        key_set_at("http://127.0.0.1:9", timeout_s=0.5)()


def test_an_answer_that_comes_drop_by_drop_is_given_up(web: str) -> None:
    """RELIABILITY R12: each drop is in time, the whole never; every sign-in would wait for it."""
    began = time.monotonic()
    with pytest.raises(IdentityProviderUnavailableError, match="too long"):
        key_set_at(f"{web}/drops", timeout_s=0.3)()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "url", ["", "keys", "http://id.example.org/keys", "ftp://127.0.0.1/keys", "file:///keys"]
)
def test_keys_are_not_read_over_an_open_line(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        key_set_at(url)
    key_set_at("https://id.example.org/keys")
