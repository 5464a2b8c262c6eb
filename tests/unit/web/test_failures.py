"""What a failure looks like from outside, at every door: our body, the right status, and no text of a memory."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.errors import (
    IndexUnavailableError,
    ItemTooLargeError,
    SearchIndexError,
    StaleVersionError,
    StoreUnavailableError,
    TooManyRequestsError,
)
from chalicelib.observability import JsonLines
from tests.fakes.client import Client
from tests.unit.web.asking import OPERATIONS, ask, code_of

SECRET = "the canary sings at dawn"


class Broken:
    """A service whose every use case fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _name: str) -> Any:
        def fail(*_: Any, **__: Any) -> Any:
            raise self._error

        return fail


def break_with(client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let every use case fail; signing in goes on."""
    good = client.world.services
    kept = {"settings", "clock", "parts", "sign_in"}
    broken = {name: Broken(error) for name in vars(good) if name not in kept}
    monkeypatch.setattr(bootstrap, "_services", replace(good, **broken))


FAILING = sorted(set(OPERATIONS) - {"get_contract", "get_docs"})


@pytest.mark.parametrize("name", FAILING)
def test_an_unknown_error_is_told_in_one_sentence_and_logged_once(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    break_with(client, monkeypatch, KeyError(SECRET))
    with caplog.at_level(logging.WARNING):
        reply = ask(client, name)
    assert (reply.status, code_of(reply)) == (500, "internal")
    assert SECRET not in reply.text
    assert "KeyError" not in reply.text
    records = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [(record.name, record.exc_info is not None) for record in records] == [("palimpsest.web", True)]
    assert vars(records[0])["operation"] == name


def test_an_answer_that_cannot_be_written_is_an_unknown_error_too(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Else the framework would answer, in words of its own."""
    for value in (float("nan"), {1, 2}, object()):
        monkeypatch.setattr(type(client.world.services.people), "me", lambda *_, value=value: {"me": value})
        assert code_of(client.get("/v1/me")) == "internal"


def test_the_log_of_an_unknown_error_holds_no_text_of_a_memory(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []

    class Written(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(JsonLines().format(record))

    break_with(client, monkeypatch, ValueError(SECRET))
    handler = Written()
    logging.getLogger("palimpsest").addHandler(handler)
    try:
        ask(client, "add_memory", {"text": SECRET, "key": SECRET})
    finally:
        logging.getLogger("palimpsest").removeHandler(handler)
    assert any("unexpected" in line for line in written)
    assert not any("canary" in line for line in written)


FAILURES: list[tuple[Exception, int, str, str]] = [
    (StoreUnavailableError("throttled"), 503, "table", "the table"),
    (StoreUnavailableError("timed out", unknown=True), 503, "table", "repeat with the same Idempotency-Key"),
    (StaleVersionError(("1",)), 503, "table", "try again"),
    (IndexUnavailableError("timed out"), 503, "index", "search index"),
    (SearchIndexError("red"), 503, "index", "search index"),
]


@pytest.mark.parametrize(
    ("error", "status", "part", "says"), FAILURES, ids=[type(one[0]).__name__ for one in FAILURES]
)
@pytest.mark.parametrize("name", ["get_memory", "add_memory", "search_memories", "list_categories", "get_me"])
def test_a_part_that_is_down_is_named(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    error: Exception,
    status: int,
    part: str,
    says: str,
) -> None:
    break_with(client, monkeypatch, error)
    reply = ask(client, name)
    assert (reply.status, code_of(reply)) == (status, "unavailable")
    assert reply.json["error"]["details"] == {"part": part}
    assert says in reply.json["error"]["message"]
    assert int(reply.headers["retry-after"]) > 0


def test_a_read_or_a_sign_in_that_fails_says_that_nothing_was_changed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise StoreUnavailableError("throttled")

    monkeypatch.setattr(client.world.parts.accounts, "key", fail)
    for name in ("get_memory", "add_memory"):
        assert "nothing was changed" in ask(client, name).json["error"]["message"]


@pytest.mark.parametrize("unknown", [True, False])
def test_a_write_that_fails_does_not_say_that_nothing_was_changed(
    client: Client, monkeypatch: pytest.MonkeyPatch, unknown: bool
) -> None:
    """The call that failed may be a read for the answer, or a later part of a batch: the commit lies before it."""
    installation = client.world.parts.accounts.installation

    def fail() -> Any:
        if client.world.parts.memories.page(client.world.scope(), after=None, limit=1):
            raise StoreUnavailableError("throttled", unknown=unknown)
        return installation()

    monkeypatch.setattr(client.world.parts.accounts, "installation", fail)
    reply = ask(client, "add_memory")
    assert (reply.status, code_of(reply)) == (503, "unavailable")
    assert "nothing was changed" not in reply.json["error"]["message"]
    assert "repeat with the same Idempotency-Key" in reply.json["error"]["message"]


def test_what_is_too_large_for_the_store_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    break_with(client, monkeypatch, ItemTooLargeError("400 KB"))
    assert code_of(ask(client, "add_memory")) == "too_large"
    assert ask(client, "add_memory").status == 413


def test_a_write_whose_outcome_is_unknown_is_done_once_when_it_is_repeated(client: Client) -> None:
    """The table took it, and the answer was lost on the way."""
    store = client.world.parts.memories
    commit = store.commit

    def lose_the_answer(*what: Any) -> None:
        commit(*what)
        store.commit = commit  # type: ignore[method-assign]
        raise StoreUnavailableError("timed out", unknown=True)

    store.commit = lose_the_answer  # type: ignore[method-assign]
    headers = {"Idempotency-Key": "once"}
    assert ask(client, "add_memory", headers=headers).status == 503
    assert ask(client, "add_memory", headers=headers).json["memory"]["number"] == 1
    assert len(client.get("/v1/spaces/personal/memories").json["items"]) == 1


@pytest.mark.parametrize(("details", "seconds"), [({"retry_after": 7}, "7"), ({}, "2")])
def test_too_many_requests_are_told_when_to_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, details: dict[str, int], seconds: str
) -> None:
    break_with(client, monkeypatch, TooManyRequestsError("slow down", **details))
    reply = ask(client, "add_memory")
    assert (reply.status, code_of(reply), reply.headers["retry-after"]) == (429, "too_many_requests", seconds)
