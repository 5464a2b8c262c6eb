"""A call to the engine: how long it waits, what it repeats, and that every failure is told in our words."""

import socket
import threading
from collections.abc import Iterator

import opensearchpy
import pytest
from opensearchpy import exceptions as library
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from chalicelib.errors import IndexMissingError, IndexUnavailableError, SearchIndexError
from chalicelib.search.opensearch import errors
from chalicelib.search.opensearch.client import POOL, Client, Patience
from tests.fakes.opensearch_engine import FakeEngine, json_error

SECRET = "secret text of a memory"
REFUSED = library.ConnectionError("N/A", "refused", NewConnectionError(None, "refused"))
TOO_SLOW = library.ConnectionTimeout("TIMEOUT", "read", None)
TOO_SLOW_TO_CONNECT = library.ConnectionError("N/A", "connect", ConnectTimeoutError())


def test_an_answer_is_given_as_it_is():
    engine = FakeEngine((200, {"hits": {"hits": []}}))
    assert engine.client().call("POST", "/x/_search", {"size": 1}) == {"hits": {"hits": []}}
    assert engine.asked == [("POST", "/x/_search", b'{"size":1}')]
    assert engine.pauses == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (TOO_SLOW, "the search engine did not answer in time"),
        (TOO_SLOW_TO_CONNECT, "the search engine did not answer in time"),
        (REFUSED, "the search engine cannot be reached"),
        (library.SSLError("N/A", "certificate", None), "the search engine cannot be reached: TLS failed"),
        (library.SerializationError("{", ValueError("x")), errors.UNREADABLE),
        (library.ImproperlyConfigured("x"), "the search engine's client failed (ImproperlyConfigured)"),
        (
            json_error(401, "security_exception"),
            "the search engine does not accept our credentials (401 security_exception)",
        ),
        ((403, "Forbidden"), "the search engine does not accept our credentials (403 unknown)"),
        (
            json_error(403, "cluster_block_exception"),
            "the search engine answered with an error (403 cluster_block_exception)",
        ),
        (
            json_error(429, "rejected_execution_exception"),
            "the search engine is overloaded (429 rejected_execution_exception)",
        ),
        (
            json_error(429, "circuit_breaking_exception"),
            "the search engine is short of memory (429 circuit_breaking_exception)",
        ),
        (
            json_error(503, "search_phase_execution_exception"),
            "the search engine answered with an error (503 search_phase_execution_exception)",
        ),
        (
            (502, "<html><h1>Bad gateway</h1></html>"),
            "the search engine answered with an error (502 unknown)",
        ),
        ((302, ""), "the search engine answered with an error (302 unknown)"),
        ((404, {"error": "alias [x] missing"}), "the search engine answered with an error (404 unknown)"),
        (
            (400, {"error": {"type": f"{SECRET} <b>"}}),
            "the search engine answered with an error (400 unknown)",
        ),
        ((200, "<html>Sign in to the network</html>"), errors.UNREADABLE),
        ((200, ["not", "an", "object"]), errors.UNREADABLE),
    ],
)
def test_a_failure_is_unavailability_in_plain_words(answer, message):
    """CASES: mem0 PR#6519: never an empty result."""
    with pytest.raises(IndexUnavailableError) as raised:
        FakeEngine(answer).client().call("GET", "/")
    assert str(raised.value) == message


def test_an_answer_of_another_kind_than_json_is_unavailability():
    for content_type in ("text/html", "text/plain"):
        with pytest.raises(IndexUnavailableError) as raised:
            FakeEngine((200, "<html>Sign in</html>"), content_type=content_type).client().call("GET", "/")
        assert str(raised.value) == errors.UNREADABLE


def test_a_missing_index_is_told_from_everything_else():
    with pytest.raises(IndexMissingError):
        FakeEngine(json_error(404, "index_not_found_exception")).client().call("POST", "/x/_search", {})
    with pytest.raises(IndexUnavailableError):
        FakeEngine((404, "<html>no such page</html>")).client().call("POST", "/x/_search", {})


def test_memory_that_ran_out_is_told_from_a_broken_document():
    """CASES: k-NN#1424: the circuit breaker shows as a mapping error."""
    hidden = json_error(
        400,
        "mapper_parsing_exception",
        caused_by={
            "type": "illegal_argument_exception",
            "caused_by": {
                "type": "knn_circuit_breaker_exception",
                "reason": "k-NN circuit breaker triggered",
            },
        },
    )
    with pytest.raises(IndexUnavailableError, match="short of memory"):
        FakeEngine(hidden).client().call("POST", "/x/_doc", {})


@pytest.mark.parametrize(
    "answer", [json_error(400, "mapper_parsing_exception"), TOO_SLOW, (500, f"<html>{SECRET}</html>")]
)
def test_no_error_carries_what_the_engine_quotes(answer):
    with pytest.raises(IndexUnavailableError) as raised:
        FakeEngine(answer).client().call("POST", "/_bulk", f'{{"words": "{SECRET}"}}\n')
    assert SECRET not in str(raised.value)
    assert raised.value.__suppress_context__
    assert raised.value.__cause__ is None


def test_every_error_of_the_library_is_one_of_ours():
    kinds = [
        kind
        for kind in vars(library).values()
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == library.__name__
    ]
    assert len(kinds) > 10
    for kind in kinds:
        if not issubclass(kind, Warning):
            assert isinstance(errors.from_library(kind(500, "x", {"error": None})), SearchIndexError)


@pytest.mark.parametrize(
    "refusal",
    [REFUSED, json_error(429, "rejected_execution_exception"), json_error(503, "x"), (503, "<html></html>")],
)
def test_a_refused_call_is_repeated_with_growing_pauses(refusal):
    engine = FakeEngine(refusal, refusal, (200, {"done": True}))
    assert engine.client().call("GET", "/") == {"done": True}
    first, second = engine.pauses
    assert 0.05 <= first <= 0.1 <= second <= 0.2


def test_it_is_repeated_a_few_times_only():
    engine = FakeEngine(REFUSED)
    with pytest.raises(IndexUnavailableError):
        engine.client(patience=Patience(retries=2)).call("GET", "/")
    assert len(engine.asked) == 3


@pytest.mark.parametrize(
    "answer",
    [
        TOO_SLOW,
        TOO_SLOW_TO_CONNECT,
        json_error(400, "x"),
        json_error(500, "x"),
        json_error(504, "x"),
        (401, ""),
    ],
)
def test_what_a_repeat_cannot_help_is_not_repeated(answer):
    """Whoever waits has waited long enough after a time-out."""
    engine = FakeEngine(answer)
    with pytest.raises(IndexUnavailableError):
        engine.client().call("GET", "/")
    assert len(engine.asked) == 1


def test_an_answer_may_be_asked_for_again():
    engine = FakeEngine((200, {"n": 1}), (200, {"n": 2}), (200, {"n": 3}))
    assert engine.client().call("GET", "/", again=lambda answer: answer["n"] < 2) == {"n": 2}
    assert FakeEngine((200, {"n": 1})).client().call("GET", "/", again=lambda answer: True) == {"n": 1}


def test_whoever_waits_waits_shortly_and_work_has_time():
    engine = FakeEngine((200, {}))
    client = engine.client(patience=Patience(connect_s=1, read_s=3, work_s=50))
    client.call("GET", "/", waiting=True)
    client.call("GET", "/")
    assert [(t.connect_timeout, t.read_timeout) for t in engine.timeouts] == [(1, 3), (1, 50)]


def test_credentials_are_kept_as_they_are_given():
    """CASES: mem0 PR#4418: the authentication object was lost when the settings were copied."""

    class Signer:
        def __call__(self, method, url, body):
            return {}

        def __deepcopy__(self, memo):
            raise AssertionError("copied")

        __copy__ = __deepcopy__

    signer, engine = Signer(), FakeEngine((200, {}))
    engine.client(http_auth=signer).call("GET", "/")
    assert engine.options["http_auth"] is signer
    assert engine.options["pool_maxsize"] == POOL


@pytest.mark.parametrize(
    ("url", "host", "port", "secure", "prefix"),
    [
        ("http://localhost:9200", "localhost", 9200, False, ""),
        (
            "https://search-x.eu-central-1.es.amazonaws.com",
            "search-x.eu-central-1.es.amazonaws.com",
            443,
            True,
            "",
        ),
        ("http://10.0.0.1/search/", "10.0.0.1", 80, False, "/search"),
    ],
)
def test_a_url_says_where_the_engine_is(url, host, port, secure, prefix):
    engine = FakeEngine((200, {}))
    connection_class = type(engine.client()._make_transport().get_connection())
    Client(url, connection_class=connection_class).call("GET", "/")
    assert engine.options["host"] == host
    assert engine.options["port"] == port
    assert engine.options["use_ssl"] is secure
    assert engine.options["url_prefix"] == prefix


@pytest.mark.parametrize(
    "url", ["", "localhost:9200", "ftp://x", "http://", "https://me:pass@x", "http://x:port"]
)
def test_a_url_that_is_none_is_refused_at_once(url):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the address is not repeated: it may hold a password
        Client(url)
    assert "pass@" not in str(raised.value)


def test_closed_it_connects_anew_when_it_is_used_again():
    engine = FakeEngine((200, {}))
    client = engine.client()
    client.close()
    client.call("GET", "/")
    client.close()
    assert client.call("GET", "/") == {}


class TestRealConnections:
    """The same through real sockets."""

    @pytest.fixture
    def listener(self) -> Iterator[socket.socket]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield server

    @staticmethod
    def _client(port: int, work_s: float = 60) -> Client:
        patience = Patience(connect_s=60, work_s=work_s)
        return Client(f"http://127.0.0.1:{port}", patience=patience, pause=lambda seconds: None)

    def test_nobody_listens(self, listener):
        port = listener.getsockname()[1]
        listener.close()
        with pytest.raises(IndexUnavailableError, match="cannot be reached"):
            self._client(port).call("GET", "/")

    def test_it_never_answers(self, listener):
        with pytest.raises(IndexUnavailableError, match="in time"):
            self._client(listener.getsockname()[1], work_s=0.2).call("GET", "/")

    def test_a_large_body_is_compressed_and_nothing_is_logged(self, listener, caplog):
        heard = bytearray()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                while b"\r\n\r\n" not in heard or len(heard) < int(_header(heard, b"content-length")):
                    heard.extend(connection.recv(65_536))
                connection.sendall(
                    b"HTTP/1.1 400 Bad\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nnope"
                )

        thread = threading.Thread(target=answer)
        thread.start()
        client = self._client(listener.getsockname()[1])
        with caplog.at_level("DEBUG"), pytest.raises(IndexUnavailableError, match="400"):
            client.call("POST", "/_bulk", f"{SECRET}\n" * 10_000)
        thread.join()
        client.close()
        assert _header(heard, b"content-encoding") == b"gzip"
        assert len(heard) < 20_000
        assert SECRET not in caplog.text


def _header(heard: bytes, name: bytes) -> bytes:
    head = heard.lower().partition(b"\r\n\r\n")[0]
    return next(line.partition(b": ")[2] for line in head.split(b"\r\n") if line.startswith(name))


def test_the_library_is_the_one_that_this_was_written_for():
    assert opensearchpy.__versionstr__.startswith("3.")
