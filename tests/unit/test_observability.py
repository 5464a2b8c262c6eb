"""An operator learns what happened; nobody learns from the logs what a memory says."""

import ast
import io
import json
import logging
import threading
from pathlib import Path
from typing import Any

import chalicelib
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.observability import FIELDS, JsonLines, configure, count, observed_request

CANARY = "canary: the safe is behind the picture"
LOG = logging.getLogger("chalicelib.services.memory.recall")


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_says_when_who_what_and_the_allowed_fields(stream: io.StringIO) -> None:
    LOG.warning("recall was degraded", extra={"part": "index", "milliseconds": 12.5, "space": "account#a"})
    (line,) = lines(stream)
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "chalicelib.services.memory.recall",
        "message": "recall was degraded",
        "part": "index",
        "milliseconds": 12.5,
        "space": "account#a",
    }


def test_other_fields_are_left_out_and_long_values_are_cut(stream: io.StringIO) -> None:
    LOG.info("added", extra={"text": CANARY, "query": CANARY, "error": "x" * 5_000, "number": 12})
    (line,) = lines(stream)
    assert CANARY not in stream.getvalue()
    assert line["number"] == 12
    assert len(line["error"]) == 200


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    # Formatted without the logging system: what pytest captures of it must be storable text.
    record = LOG.makeRecord(
        LOG.name, logging.INFO, "", 0, "two\nlines \ud83d", (), None, extra={"kind": "příliš\r\n"}
    )
    line = JsonLines().format(record)
    assert "\n" not in line
    assert line.encode()
    assert json.loads(line)["kind"] == "příliš\r\n"


def test_lines_of_one_request_carry_its_id_and_no_others(stream: io.StringIO) -> None:
    def request(name: str) -> None:
        with observed_request(name):
            LOG.info("served")

    threads = [threading.Thread(target=request, args=(f"request {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    LOG.info("afterwards")
    found = [line.get("correlation") for line in lines(stream)]
    assert sorted(found[:4]) == [f"request {number}" for number in range(4)]
    assert found[4] is None


def test_an_exception_is_logged_by_type_and_place_but_without_a_librarys_words(stream: io.StringIO) -> None:
    try:
        try:
            int(CANARY)
        except ValueError as error:
            raise EmbedderUnavailableError("The embedding endpoint answers 503.") from error
    except EmbedderUnavailableError:
        LOG.exception("an unexpected error")
    (line,) = lines(stream)
    assert CANARY not in stream.getvalue()
    assert line["exception"]["type"] == "chalicelib.errors.EmbedderUnavailableError"
    assert line["exception"]["message"] == "The embedding endpoint answers 503."
    assert "test_observability.py" in line["exception"]["stack"][0]
    assert line["exception"]["cause"]["type"] == "builtins.ValueError"
    assert "message" not in line["exception"]["cause"]


def test_an_exception_during_another_is_told_and_a_suppressed_one_is_not(stream: io.StringIO) -> None:
    for suppressed in (False, True):
        try:
            try:
                {}["a"]
            except KeyError:
                if suppressed:
                    raise OSError from None
                raise OSError  # noqa: B904 - the other kind of chain
        except OSError:
            LOG.exception("failed")
    during, alone = (line["exception"] for line in lines(stream))
    assert during["cause"]["type"] == "builtins.KeyError"
    assert "cause" not in alone


def test_libraries_are_heard_from_warnings_on_and_never_quoted(stream: io.StringIO) -> None:
    library = logging.getLogger("botocore.parsers")
    library.info("body: %s", CANARY)
    library.warning("cannot parse %s", CANARY)
    (line,) = lines(stream)
    assert line["message"] == "cannot parse %s"


def test_only_our_own_lines_follow_the_level(stream: io.StringIO) -> None:
    configure(level="debug", stream=stream)
    LOG.debug("ours")
    logging.getLogger("urllib3.connectionpool").debug("theirs")
    configure(level="error", stream=stream)
    LOG.warning("not any more")
    assert [line["message"] for line in lines(stream)] == ["ours"]


def test_a_metric_is_written_as_cloudwatch_reads_it(stream: io.StringIO) -> None:
    count("degraded", part="index", text=CANARY)
    count("written", 3)
    first, second = lines(stream)
    (directive,) = first["_aws"]["CloudWatchMetrics"]
    assert directive == {
        "Namespace": "Palimpsest",
        "Dimensions": [["part"]],
        "Metrics": [{"Name": "degraded", "Unit": "Count"}],
    }
    assert (first["degraded"], first["part"]) == (1, "index")
    assert isinstance(first["_aws"]["Timestamp"], int)
    assert CANARY not in stream.getvalue()
    assert (second["written"], second["_aws"]["CloudWatchMetrics"][0]["Dimensions"]) == (3, [[]])


def test_metrics_are_off_unless_asked_for(stream: io.StringIO) -> None:
    configure(stream=stream)
    count("written")
    assert stream.getvalue() == ""


def test_every_field_that_the_code_logs_is_allowed() -> None:
    """A field that is not is dropped in silence, and missed when it is needed."""
    for file in Path(chalicelib.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "extra" and isinstance(node.value, ast.Dict):
                names = {key.value for key in node.value.keys if isinstance(key, ast.Constant)}
                assert names <= FIELDS, f"{file.name}:{node.value.lineno}"
