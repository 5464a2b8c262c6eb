"""Duplicates, merges, updates, contradictions: nothing that was said is dropped, doubled, overwritten or swallowed."""

from typing import Any

import pytest

from chalicelib.domain.vitality import Retention
from tests.cases.asking import MEMORIES, SPACE, add, found, listed, memory, ops, recalled
from tests.fakes.client import Client
from tests.fakes.world import World

settled = pytest.mark.parametrize("settled", [True, False], ids=["indexed", "just written"])


def settle(client: Client, really: bool) -> None:
    if really:
        client.world.settle()


@settled
@pytest.mark.parametrize("times", [2, 3, 7])
def test_saying_the_same_again_deletes_nothing(client: Client, settled: bool, times: int) -> None:
    """mem0#1674: the second add of the same memory deleted the first."""
    numbers = []
    for place in range(times):
        reply = client.post(MEMORIES, {"text": "Marie is allergic to peanuts."})
        numbers.append(reply.json["memory"]["number"])
        similar = {one["memory"]["number"] for one in reply.json["similar"]}
        assert similar <= set(numbers)
        assert len(similar) == min(place, 5)
        settle(client, settled)
    assert sorted(listed(client)) == numbers
    assert all(ops(client, number) == ["add"] for number in numbers)


@settled
def test_what_is_said_twice_in_one_batch_is_stored_as_said_and_reported(
    client: Client, settled: bool
) -> None:
    """graphiti PR#955: duplicate facts inside one episode went unnoticed."""
    add(client, "Paul plays the violin.")
    settle(client, settled)
    items = [{"text": "Paul plays the violin."}] * 3
    answers = client.post(f"{MEMORIES}/batch", {"items": items}).json["items"]
    similar = [[one["memory"]["number"] for one in answer["similar"]] for answer in answers]
    assert all(1 in numbers for numbers in similar)
    assert 2 in similar[1]
    assert {2, 3} <= set(similar[2])
    assert sorted(listed(client)) == [1, 2, 3, 4]


@settled
def test_a_change_close_to_what_was_known_is_never_dropped(client: Client, settled: bool) -> None:
    """cyzus/suzent#34: `just joined Microsoft` was taken for `works at Google` and thrown away."""
    old = add(client, "Petra works at Google as an engineer.")
    settle(client, settled)
    new = add(client, "Petra just joined Microsoft as an engineer.")
    settle(client, settled)
    assert {old, new} <= set(found(client, "Where does Petra work as an engineer?"))
    assert memory(client, new)["text"] == "Petra just joined Microsoft as an engineer."
    edited = client.patch(f"{MEMORIES}/{old}", {"version": 1, "text": "Petra works at Google as a engineer."})
    assert (
        edited.json["memory"]["text"] == memory(client, old)["text"] == "Petra works at Google as a engineer."
    )


UNKNOWN = (99, 10**15 - 1)
MALFORMED = (0, -1, 10**15 + 1, 1.5, "1", None, True, [1])


@pytest.mark.parametrize("number", UNKNOWN)
def test_a_number_that_does_not_exist_changes_nothing(client: Client, number: int) -> None:
    """mem0#3931, PR#4674: the model gave an id that is not there, and the update crashed."""
    for text in ("one", "two"):
        add(client, text)
    before = client.world.database_dump()
    one = f"{MEMORIES}/{number}"
    merge = {"numbers": [1, number], "versions": {"1": 1, str(number): 1}, "text": "both"}
    answers = [
        client.patch(one, {"version": 1, "text": "x"}),
        client.delete(one),
        client.post(f"{one}/restore"),
        client.post(f"{one}/retire", {"version": 1}),
        client.post(f"{one}/erase"),
        client.post(f"{MEMORIES}/merge", merge),
    ]
    assert {answer.status for answer in answers} == {404}
    replaced = client.post(f"{MEMORIES}/1/retire", {"version": 1, "replaced_by": number})
    assert (replaced.status, replaced.fields) == (422, ["replaced_by"])
    assert client.world.database_dump() == before
    bulk = client.post(f"{MEMORIES}/bulk", {"op": "delete", "numbers": [number, 2]}).json["items"]
    assert [answer["status"] for answer in bulk] == [404, 200]
    assert memory(client, 1)["state"] == "active"


@pytest.mark.parametrize("number", MALFORMED)
def test_what_is_no_number_is_refused_by_its_field(client: Client, number: Any) -> None:
    """mem0#3931, PR#4674: and so are ids that are none, or named twice."""
    add(client, "one")
    before = client.world.database_dump()
    bulk = client.post(f"{MEMORIES}/bulk", {"op": "delete", "numbers": [1, number]})
    merge = client.post(f"{MEMORIES}/merge", {"numbers": [1, number], "versions": {"1": 1}, "text": "both"})
    twice = client.post(f"{MEMORIES}/bulk", {"op": "delete", "numbers": [1, 1]})
    assert [answer.status for answer in (bulk, merge, twice)] == [422, 422, 422]
    assert bulk.fields[0].startswith("numbers")
    assert client.world.database_dump() == before


def test_the_same_key_of_two_subjects_is_two_facts(client: Client) -> None:
    """graphiti PR#1212: adding a relation overwrote one of the same name between other people."""
    space = f"/v1/spaces/{client.world.add_community('1001').name}"
    facts = {}
    for subject, place in (("member-1", "Brno"), ("member-2", "Brno"), ("member-1", "Prague")):
        number = add(client, f"lives in {place}", space, key="home", subject=subject)
        facts[number] = (subject, f"lives in {place}")
        client.world.settle()
    assert {
        number: ((one := memory(client, number, space))["subject"], one["text"]) for number in facts
    } == facts
    assert sorted(listed(client, "&subject=member-1", space)) == [1, 3]


@settled
def test_the_same_fact_of_two_channels_is_noticed_and_can_become_one(client: Client, settled: bool) -> None:
    """hindsight#3953: the same observation was kept apart by its tags and never merged."""
    space = f"/v1/spaces/{client.world.add_community('1001').name}"
    first = add(client, "The meeting is on Friday.", space, source={"conversation": "channel-1"})
    settle(client, settled)
    body = {"text": "The meeting is on Friday.", "source": {"conversation": "channel-2"}}
    second = client.post(f"{space}/memories", body).json
    assert [one["memory"]["number"] for one in second["similar"]] == [first]
    numbers = [first, second["memory"]["number"]]
    merge = {
        "numbers": numbers,
        "versions": {str(n): 1 for n in numbers},
        "text": "The meeting is on Friday.",
    }
    merged = client.post(f"{space}/memories/merge", merge).json["memory"]
    settle(client, settled)
    assert found(client, "meeting Friday", space) == [merged["number"]]


@pytest.mark.parametrize("way", ["edit", "merge", "undo", "restore"])
@settled
def test_what_was_changed_is_found_by_its_exact_words_ever_after(
    client: Client, way: str, settled: bool
) -> None:
    """rahilp/second-brain-cloudflare#135: the change removed the vector it had just written."""
    for text in ("tea", "cocoa"):
        add(client, text)
    client.world.settle()
    text, number = "umbrella", 1
    if way == "edit":
        client.patch(f"{MEMORIES}/1", {"version": 1, "text": text})
    elif way == "merge":
        body = {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": text}
        number = client.post(f"{MEMORIES}/merge", body).json["memory"]["number"]
    elif way == "undo":
        client.patch(f"{MEMORIES}/1", {"version": 1, "text": text})
        settle(client, settled)
        client.post(f"{SPACE}/changes/1-2/undo")
        text = "tea"
    else:
        client.delete(f"{MEMORIES}/1")
        settle(client, settled)
        client.post(f"{MEMORIES}/1/restore")
        text = "tea"
    for _ in range(3):
        assert found(client, text)[0] == number
        assert recalled(client, text)[0] == number
        settle(client, settled)
    client.world.services.rebuild.rebuild()
    assert found(client, text)[0] == number


@settled
def test_two_occasions_of_the_same_event_are_two_memories(client: Client, settled: bool) -> None:
    """graphiti#1865: separate occurrences of a repeated event became one."""
    months = ("May 2023", "May 2024", "May 2025")
    numbers = []
    for place, month in enumerate(months):
        when = {"valid_from": f"202{3 + place}-05-10T00:00:00Z"}
        numbers.append(add(client, f"Eva ran a marathon in {month}", **when))
        settle(client, settled)
    assert set(numbers) <= set(found(client, "When did Eva run a marathon?"))
    assert [memory(client, number)["text"][-8:] for number in numbers] == list(months)
    assert {memory(client, number)["state"] for number in numbers} == {"active"}


class TestBackgroundPasses:
    """nowledge-co/nowledge-mem#81: rows vanished while curation ran, without an event or a mark."""

    def faded(self, client: Client) -> dict[int, str]:
        """Memories old and weak enough to be cleaned up, as an outside ledger has them."""
        numbers = [add(client, f"fact number {n}", importance=1 + n % 3) for n in range(12)]
        client.world.settle()
        client.world.later(days=60)
        return {number: memory(client, number)["text"] for number in numbers}

    @pytest.mark.parametrize("turn", ["cleanup", "compare", "rebuild", "reindex"])
    def test_every_pass_leaves_the_ledger_whole(self, client: Client, turn: str) -> None:
        ledger = self.faded(client)
        world: World = client.world
        world.set_retention(Retention(daily_limit=5))
        removed = self.run(world, turn)
        assert set(listed(client, "&state=all")) == set(ledger)
        assert {number: memory(client, number)["text"] for number in ledger} == ledger
        assert sorted(listed(client)) == sorted(set(ledger) - set(removed))
        changes = client.get(f"{SPACE}/audit?limit=200").json["items"]
        assert sorted(one["number"] for one in changes if one["op"] == "trash") == sorted(removed)
        for number in removed:
            assert ops(client, number) == ["add", "trash"]
            assert client.post(f"{MEMORIES}/{number}/restore").json["memory"]["state"] == "active"
        assert sorted(listed(client)) == sorted(ledger)

    def run(self, world: World, turn: str) -> list[int]:
        """Run a pass; what it moved to the trash."""
        space = world.scope().space
        if turn == "cleanup":
            removed = world.services.retain.clean(space)
            assert len(removed) == 5
            return removed
        if turn == "compare":
            world.services.reconciler.compare(space)
        elif turn == "rebuild":
            world.services.rebuild.rebuild()
        else:
            world.reindex()
        return []


@settled
def test_what_was_just_said_answers_the_next_message(client: Client, settled: bool) -> None:
    """hindsight#1214, #2977: invisible until consolidation had run."""
    for place, colour in enumerate(("red", "green", "blue")):
        number = add(client, f"The {colour} door has code {place}{place}{place}{place}.")
        assert found(client, f"What code has the {colour} door?")[0] == number
        assert recalled(client, f"What code has the {colour} door?")[0] == number
        settle(client, settled)


def test_a_change_that_changed_nothing_is_not_called_done(client: Client) -> None:
    """letta-code PR#2540: a write without effect reported success."""
    add(client, "green tea")
    refused = {
        422: [{"version": 1}, {"version": 1, "colour": "red"}, {"text": "black tea"}, {}],
        409: [{"version": 7, "text": "black tea"}],
    }
    for status, bodies in refused.items():
        for body in bodies:
            assert client.patch(f"{MEMORIES}/1", body).status == status
    assert client.post(f"{MEMORIES}/1/restore").status == 409
    assert client.post(f"{SPACE}/changes/1-9/undo").status == 404
    assert ops(client, 1) == ["add"]
    done = client.patch(f"{MEMORIES}/1", {"version": 1, "text": "black tea"})
    assert done.json["memory"] == memory(client, 1)
    assert (ops(client, 1), memory(client, 1)["text"]) == (["add", "edit"], "black tea")
