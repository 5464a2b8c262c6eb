"""A managed domain believes requests that the role has signed: what is signed is what is sent, compressed or not."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from chalicelib import bootstrap
from chalicelib.settings import Settings

REGION = "eu-central-1"
KEY, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "a-session"


class Domain(ThreadingHTTPServer):
    """Answers everything, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        server: Any = self.server
        headers = {name.lower(): value for name, value in self.headers.items()}
        server.asked.append((self.command, self.path, headers, body))
        said = b'{"version": {"number": "2.19.0", "distribution": "opensearch"}}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - as the library calls them

    def log_message(self, *_: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def domain() -> Iterator[Domain]:
    server = Domain()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def client_of(domain: Domain, monkeypatch: pytest.MonkeyPatch, **more: str) -> Any:
    """The client that a function in the cloud makes."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    stated = {
        "PALIMPSEST_SEARCH": "opensearch",
        "PALIMPSEST_OPENSEARCH_URL": domain.url,
        "AWS_REGION": REGION,
        **more,
    }
    index: Any = bootstrap._index(Settings.from_environment(stated), None)
    return index._client


def signature(asked: tuple[str, str, dict[str, str], bytes], url: str) -> str:
    """What AWS computes of what came."""
    method, path, headers, body = asked
    listed = headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    signed = {name: headers[name] for name in listed}
    request = AWSRequest(method, f"{url}{path}", data=body, headers=signed)
    request.context["timestamp"] = headers["x-amz-date"]
    auth = SigV4Auth(Credentials(KEY, SECRET, TOKEN), "es", REGION)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    return str(auth.signature(text, request))


@pytest.mark.parametrize(
    ("method", "path", "body", "params"),
    [
        ("GET", "/", None, None),
        ("POST", "/_msearch", '{"index": "a"}\n{"query": {}}\n' * 200, {"filter_path": "responses.hits.hits._score,responses.status"}),
        ("POST", "/words/_search", {"query": {"term": {"space": "account#ž"}}}, {"routing": "account#ž &+", "preference": "a b"}),
        ("PUT", "/words-1", {"mappings": {}}, None),
        ("DELETE", "/words-1", None, {"ignore_unavailable": "true"}),
    ],
)  # fmt: skip
def test_every_request_is_signed_as_it_is_sent(
    domain: Domain, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any, params: Any
) -> None:
    client = client_of(domain, monkeypatch, PALIMPSEST_OPENSEARCH_SIGN="true")
    client.call(method, path, body, params=params)
    (asked,) = domain.asked
    headers = asked[2]
    assert headers["authorization"].startswith(f"AWS4-HMAC-SHA256 Credential={KEY}/")
    assert f"/{REGION}/es/aws4_request" in headers["authorization"]
    assert headers["x-amz-security-token"] == TOKEN
    assert headers["authorization"].split("Signature=")[1] == signature(asked, domain.url)


def test_credentials_that_are_renewed_are_used(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function lives longer than its first credentials (CASES: mem0 PR#4418)."""
    client = client_of(domain, monkeypatch, PALIMPSEST_OPENSEARCH_SIGN="true")
    signer = client._auth
    client.call("GET", "/")
    renewed = Credentials("AKIDRENEWED", SECRET, "another-session")
    monkeypatch.setattr(signer.signer, "credentials", renewed)
    client.call("GET", "/")
    assert "Credential=AKIDRENEWED/" in domain.asked[1][2]["authorization"]


def test_user_and_password_are_sent_where_they_are_set(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"PALIMPSEST_OPENSEARCH_USER": "u", "PALIMPSEST_OPENSEARCH_PASSWORD": "p"}
    client_of(domain, monkeypatch, **more).call("GET", "/")
    assert domain.asked[0][2]["authorization"] == "Basic dTpw"
