"""An installation from its deployment to its end, as an operator and their users see it. The steps build on each other;
roles and policies are in force, so that a missing grant fails here."""

import json
import secrets
import threading
import time

import pytest

from tests.deployed.installation import NAME, Installation
from tests.e2e.test_index_loss import delete_indices
from tests.fakes.caller import PERSONAL, wait_until

pytestmark = [pytest.mark.ministack, pytest.mark.opensearch, pytest.mark.timeout(900)]

FACTS = 200
ACCOUNT = "000000000000"


# ---------------------------------------------------------------------------- before anything is changed


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("AWS_REGION", None),
        ("AWS_ACCESS_KEY", "No AWS credentials are set"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_changed(
    account: Installation, without: str, said: str | None
) -> None:
    dropped = "AWS_" if said is None else without
    made = account.make("deploy", without=dropped)
    assert made.code != 0
    assert (said or "No AWS region is set") in made.err, made.err
    assert "Nothing was changed" in made.err
    assert account.stacks() == set()


def test_settings_that_make_no_sense_are_said_before_anything_is_changed(account: Installation) -> None:
    made = account.make("deploy", PALIMPSEST_EMBEDDER="openai")
    assert made.code != 0
    assert "PALIMPSEST_EMBEDDING_MODEL" in made.err
    assert account.stacks() == set()


# ---------------------------------------------------------------------------- it is used


def test_it_is_healthy(installed: Installation) -> None:
    said = installed.caller().health()
    assert said["parts"] == {
        "table": "ok",
        "index": "ok",
        "embedder": "ok",
        "helper_model": "off",
        "queue": "ok",
    }


@pytest.mark.parametrize("key", ["", "plm_wrong", "Bearer"])
def test_without_a_key_that_holds_nobody_gets_in(installed: Installation, key: str) -> None:
    answer = installed.caller(key).ask("GET", f"{PERSONAL}/memories")
    assert (answer.status, answer.body["error"]["code"]) == (401, "unauthenticated")


def test_what_is_added_is_found_by_words_and_by_meaning(installed: Installation) -> None:
    here = installed.caller()
    for start in range(0, FACTS, 50):
        items = [
            {"text": f"Fact {number}: the lighthouse keeper drinks tea."}
            for number in range(start, start + 49)
        ]
        items.append({"text": f"Marie is allergic to peanuts, says letter {start}."})
        answer = here.ask("POST", f"{PERSONAL}/memories/batch", {"items": items})
        assert {item["status"] for item in answer.body["items"]} == {201}, answer
    wait_until(lambda: installed.differences() == [], 120)
    answer = here.ask("POST", f"{PERSONAL}/search", {"query": "Na co má Marie alergii?", "limit": 4})
    assert (answer.body["matched_by"], answer.body["degraded"]) == ("meaning", None)
    assert all("peanuts" in item["memory"]["text"] for item in answer.body["items"]), answer
    assert len(here.found("letter 150")) > 0
    recalled = here.ask("POST", f"{PERSONAL}/recall", {"query": "What can I cook when Marie comes?"})
    assert "peanuts" in recalled.body["text"]
    assert (recalled.body["matched_by"], recalled.body["degraded"]) == ("meaning", None)


def test_edits_the_trash_and_erasing_reach_the_index(installed: Installation) -> None:
    here = installed.caller()
    edited = here.add("The zebra sleeps in Vladivostok.")
    trashed = here.add("The walrus sleeps in Vladivostok.")
    erased = here.add("The canary sings in Vladivostok.")
    change = {"version": 1, "text": "The zebra sleeps in Reykjavik."}
    assert here.ask("PATCH", f"{PERSONAL}/memories/{edited}", change).status == 200
    assert here.ask("DELETE", f"{PERSONAL}/memories/{trashed}").status == 200
    assert here.ask("POST", f"{PERSONAL}/memories/{erased}/erase", {}).status == 200
    assert here.found("Vladivostok") == []
    wait_until(lambda: installed.differences() == [], 120)
    assert here.found("Reykjavik") == [edited]
    assert here.found("Vladivostok") == []


def test_a_projector_that_is_killed_loses_nothing(installed: Installation) -> None:
    here = installed.caller()
    stop = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not stop.is_set():
            killed.append(installed.kill("Stream"))
            time.sleep(0.5)

    before = len(here.listed()[0])
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        numbers = [here.add(f"Note {turn} of the killed projector.") for turn in range(60)]
        for number in numbers[:20]:
            assert here.ask("DELETE", f"{PERSONAL}/memories/{number}").status == 200
    finally:
        stop.set()
        killer.join(30)
    assert sum(killed) > 0
    wait_until(lambda: installed.differences() == [], 180)
    assert len(here.listed()[0]) == before + 40


def test_a_job_goes_through_the_stream_and_the_queue_to_its_worker(installed: Installation) -> None:
    here = installed.caller()
    job = here.ask("POST", f"{PERSONAL}/jobs", {"kind": "reindex"})
    assert job.status < 300, job
    path = f"{PERSONAL}/jobs/{job.body['job']['id']}"
    wait_until(lambda: here.ask("GET", path).body["job"]["state"] not in {"queued", "running"}, 120)
    assert here.ask("GET", path).body["job"]["state"] == "done"


def test_a_schedule_fires_and_the_lost_index_is_built_anew(installed: Installation) -> None:
    here = installed.caller()
    delete_indices(installed.opensearch_url, installed.prefix)
    answer = here.search("Marie")
    assert answer["degraded"] == "index_missing"
    assert answer["items"] != []
    hurry(installed, "ReconcileSample")
    wait_until(lambda: here.health()["parts"]["index"] == "ok", 240)
    wait_until(lambda: installed.differences() == [], 60)
    answer = here.search("Na co má Marie alergii?")
    assert (answer["matched_by"], answer["degraded"]) == ("meaning", None)


def hurry(installed: Installation, name: str) -> None:
    """Let a schedule fire within a minute, as it would within its hour."""
    scheduler = installed.client("scheduler")
    (found,) = [one for one in scheduler.list_schedules()["Schedules"] if name in one["Name"]]
    whole = scheduler.get_schedule(Name=found["Name"], GroupName=found["GroupName"])
    kept = {key: whole[key] for key in ("Name", "GroupName", "FlexibleTimeWindow", "Target")}
    scheduler.update_schedule(**kept, ScheduleExpression="rate(1 minute)")


# ---------------------------------------------------------------------------- it is changed, and ends


def test_a_second_deployment_keeps_everything(installed: Installation) -> None:
    here = installed.caller()
    before = here.listed()
    told = installed.make("diff", PALIMPSEST_FRESH_SECONDS="45")
    assert told.code == 0, told.err
    assert "PALIMPSEST_FRESH_SECONDS" in told.out + told.err
    made = installed.deploy(PALIMPSEST_FRESH_SECONDS="45", PALIMPSEST_DEPLOY_REQUESTS_PER_SECOND="77")
    forgotten = installed.make("deploy")
    assert forgotten.code != 0
    assert "PALIMPSEST_DEPLOY_REQUESTS_PER_SECOND, PALIMPSEST_FRESH_SECONDS" in forgotten.err
    assert "shown only now" not in made.out
    assert installed.function("APIHandler")["Environment"]["Variables"]["PALIMPSEST_FRESH_SECONDS"] == "45"
    here = installed.caller()
    assert here.listed() == before
    number = here.add("Written after the second deployment.")
    wait_until(lambda: installed.differences() == [], 120)
    assert here.found("second deployment")[0] == number


def test_another_key_is_made_and_nothing_else_is_changed(installed: Installation) -> None:
    before = installed.function("APIHandler")
    made = installed.make("deploy", "--new-key")
    assert made.code == 0, made.err
    key = made.said(r"shown only now: (\S+)")
    assert installed.caller(key).health()["status"] == "ok"
    assert len(installed.caller(key).listed()[0]) > FACTS
    assert installed.function("APIHandler") == before


def test_a_secret_reaches_the_functions_and_is_nowhere_else(installed: Installation) -> None:
    """RELIABILITY S6: it is in Secrets Manager; in no template, environment, package, log, nor on the terminal."""
    canary = f"canary-{secrets.token_hex(8)}"
    with_secret = {"PALIMPSEST_OPENSEARCH_USER": "e2e", "PALIMPSEST_OPENSEARCH_PASSWORD": canary}
    taken_back = "PALIMPSEST_FRESH_SECONDS,PALIMPSEST_DEPLOY_REQUESTS_PER_SECOND"
    made = installed.deploy(f"--unset {taken_back}", **with_secret)
    kept = installed.client("secretsmanager").get_secret_value(SecretId=f"{NAME}/settings")["SecretString"]
    assert json.loads(kept) == {"opensearch_password": canary}
    here = installed.caller()
    assert here.health()["status"] == "ok"
    number = here.add("Written with a secret in use.")
    wait_until(lambda: installed.differences() == [], 120)
    assert here.found("secret in use")[0] == number
    stated = installed.function("APIHandler")["Environment"]["Variables"]
    assert stated["PALIMPSEST_SECRET"].startswith("arn:")
    told = json.dumps(stated) + made.out + made.err + "\n".join(installed.logged())
    assert canary not in told
    assert installed.files_with(canary.encode()) == []


def test_a_path_that_is_not_there_is_refused(installed: Installation) -> None:
    """By the gateway; in which form, the emulator does not take from the API's definition (tests/infra does)."""
    answer = installed.caller().ask("GET", "/v1/nothing/of/the/kind")
    assert answer.status in {403, 404}, answer


def test_no_function_was_refused_anything(installed: Installation) -> None:
    """A call that a role does not allow would be in the functions' logs as refused."""
    lines = installed.logged()
    refused = [line for line in lines if "AccessDenied" in line or "not authorized" in line]
    assert refused == []
    assert any("served" in line for line in lines)


def test_what_is_kept_outlives_what_serves(installed: Installation) -> None:
    count = len(installed.caller().listed()[0])
    refused = installed.make("destroy", "--data")
    assert refused.code != 0
    assert f"--erase-everything-of {NAME}@{ACCOUNT}" in refused.err
    assert installed.stacks() == {f"{NAME}-data", f"{NAME}-service"}
    made = installed.make("destroy")
    assert made.code == 0, made.err
    assert installed.stacks() == {f"{NAME}-data"}
    installed.deploy()
    assert len(installed.caller().listed()[0]) == count


def test_told_so_twice_everything_is_deleted(installed: Installation) -> None:
    wrong = installed.make("destroy", f"--data --erase-everything-of {NAME}")
    assert wrong.code != 0
    assert f"{NAME}-data" in installed.stacks()
    made = installed.make("destroy", f"--data --erase-everything-of {NAME}@{ACCOUNT}")
    assert made.code == 0, made.out + made.err
    assert installed.stacks() == set()
    assert installed.client("dynamodb").list_tables()["TableNames"] == []
