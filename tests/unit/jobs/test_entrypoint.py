"""What every job promises, whatever it does."""

import json
import logging

import pytest

from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.jobs.entrypoint import Event, Failures, failures, job, step
from chalicelib.observability import JsonLines


def test_the_answer_names_the_records_to_deliver_again_as_lambda_wants_it() -> None:
    assert failures(["7", "9"]) == {"batchItemFailures": [{"itemIdentifier": "7"}, {"itemIdentifier": "9"}]}
    assert failures() == {"batchItemFailures": []}


def test_all_lines_of_one_event_carry_one_correlation(caplog: pytest.LogCaptureFixture) -> None:
    written: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(JsonLines().format(record))

    log = logging.getLogger("palimpsest.test")
    log.addHandler(Keep())
    caplog.set_level(logging.INFO, "palimpsest.test")

    @job("sort")
    def sort(_event: Event) -> Failures:
        log.info("one")
        log.info("two")
        return failures()

    sort({}, None)
    sort({}, None)
    lines = [json.loads(line)["correlation"] for line in written]
    assert lines[0] == lines[1]
    assert lines[2] == lines[3] != lines[0]
    assert lines[0].startswith("job_")


def test_what_is_to_be_delivered_again_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "palimpsest.jobs")
    job("sort")(lambda _event: failures(["1", "2"]))({}, None)
    assert [(r.message, r.operation, r.records) for r in caplog.records] == [
        ("to be delivered again", "sort", 2)
    ]


def test_an_event_that_cannot_be_read_goes_back_whole() -> None:
    @job("sort")
    def sort(event: Event) -> Failures:
        return failures(event["Records"])

    with pytest.raises(KeyError):
        sort({}, None)


def test_a_step_that_ends_well_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert step("sort", lambda: None) is True
    assert not caplog.records


@pytest.mark.parametrize("error", [StoreUnavailableError("full"), IndexUnavailableError("gone")])
def test_a_part_that_is_down_is_one_line_without_a_stack(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        raise error

    assert step("sort", work) is False
    (record,) = caplog.records
    assert (record.levelname, record.exc_info, record.error) == ("WARNING", None, type(error).__name__)


def test_an_unknown_error_ends_there_and_is_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    def work() -> None:
        raise ZeroDivisionError

    assert step("sort", work) is False
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.exc_info is not None
