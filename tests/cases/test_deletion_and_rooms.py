"""Deletion that deletes, all of it and nothing else; and every room's memories in that room."""

import pytest

from tests.cases.asking import MEMORIES, SPACE, add, found, listed, memory, recalled
from tests.fakes.client import Client

NEIGHBOURS = [f"I like {what} tea with {taste}" for what, taste in (
    ("green", "honey"), ("black", "milk"), ("white", "lemon"), ("herbal", "mint"), ("iced", "peach"), ("red", "cream"),
)]  # fmt: skip


@pytest.mark.parametrize("seconds", [0, 2, 60])
@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "not yet indexed"])
@pytest.mark.parametrize("way", ["delete", "bulk delete", "retire", "erase", "bulk erase"])
def test_what_is_deleted_is_found_by_no_way(client: Client, way: str, indexed: bool, seconds: int) -> None:
    """supermemoryai/supermemory#142, #195: a deleted memory was still found by search."""
    for text in ("the lantern in the harbour", "the kettle in the kitchen"):
        add(client, text)
    client.world.settle()
    one = f"{MEMORIES}/1"
    done = {
        "delete": lambda: client.delete(one),
        "retire": lambda: client.post(f"{one}/retire", {"version": 1}),
        "erase": lambda: client.post(f"{one}/erase"),
        "bulk delete": lambda: client.post(f"{MEMORIES}/bulk", {"op": "delete", "numbers": [1]}),
        "bulk erase": lambda: client.post(f"{MEMORIES}/bulk", {"op": "erase", "numbers": [1]}),
    }[way]()
    assert done.status == 200
    if indexed:
        client.world.settle()
    client.world.later(seconds=seconds)
    for query in ("lantern", "the lantern in the harbour", "harbour lamp"):
        assert 1 not in found(client, query)
        assert 1 not in recalled(client, query)
    for query in ("", "&q=lantern", "&sort=oldest", "&sort=vitality"):
        assert 1 not in listed(client, query)
    assert 1 not in [point["number"] for point in client.get(f"{SPACE}/map").json["items"]]
    similar = client.post(MEMORIES, {"text": "the lantern in the harbour"}).json["similar"]
    assert 1 not in [one["memory"]["number"] for one in similar]
    client.world.parts.index.drop()
    assert 1 not in found(client, "lantern")
    client.world.services.rebuild.rebuild()
    assert 1 not in found(client, "lantern")
    assert 2 in found(client, "kettle")


def test_a_deletion_names_a_number_and_takes_nothing_near_it(client: Client) -> None:
    """NousResearch/hermes-agent PR#69134; openclaw/openclaw#6774: forget-by-query took the best fuzzy hit."""
    numbers = [add(client, text) for text in NEIGHBOURS]
    client.world.settle()
    for query in ("?q=tea", "?query=I%20like%20tea", ""):
        assert client.delete(f"{MEMORIES}{query}").status == 405
    for body in (
        {"op": "delete", "query": "tea"},
        {"op": "delete", "numbers": [], "q": "tea"},
        {"op": "delete"},
    ):
        assert client.post(f"{MEMORIES}/bulk", body).status == 422
    assert listed(client, "&sort=oldest") == numbers
    assert client.delete(f"{MEMORIES}/{numbers[2]}").status == 200
    assert listed(client, "&sort=oldest") == [number for number in numbers if number != numbers[2]]
    assert client.post(f"{MEMORIES}/{numbers[2]}/restore").status == 200


@pytest.mark.parametrize("op", ["delete", "erase"])
def test_deleting_everything_of_one_leaves_everything_of_the_others(client: Client, op: str) -> None:
    """mem0 PR#4349: delete-all for one user reset the whole store."""
    world = client.world
    world.add_account("berta")
    berta = world.parts.accounts.account("berta")
    assert berta is not None
    key = world.services.founding.new_key(berta, "key", world.now).plain
    pool = f"/v1/spaces/{world.add_project('rocket', 'anna', 'berta').name}"
    for text in NEIGHBOURS:
        add(client, text)
        add(client, text, key_of=key)
        add(client, text, pool)
    world.settle()
    theirs = client.get(f"{MEMORIES}?state=all&limit=200", key=key).text, client.get(f"{pool}/memories").text
    body = {"op": op, "numbers": listed(client)}
    assert {one["status"] for one in client.post(f"{MEMORIES}/bulk", body).json["items"]} == {200}
    world.settle()
    assert listed(client) == []
    assert theirs == (
        client.get(f"{MEMORIES}?state=all&limit=200", key=key).text,
        client.get(f"{pool}/memories").text,
    )
    assert len(found(client, "tea", key_of=key)) == len(found(client, "tea", pool)) == len(NEIGHBOURS)


def test_everything_of_one_channel_can_be_erased(client: Client) -> None:
    """google/adk-python#7109; CaviraOSS/OpenMemory#119; langchain-ai/langgraph#3917: no way to remove by where it is
    from."""
    space = f"/v1/spaces/{client.world.add_community('1001').name}"
    for place, text in enumerate(NEIGHBOURS):
        add(
            client,
            text,
            space,
            source={"conversation": f"channel-{place % 2}"},
            subject=f"member-{place % 3}",
        )
    client.world.settle()
    for narrowed, left in (("source=channel-0", [2, 4, 6]), ("subject=member-1", [4, 6])):
        numbers = listed(client, f"&state=all&{narrowed}", space)
        body = {"op": "erase", "numbers": numbers}
        assert {one["status"] for one in client.post(f"{space}/memories/bulk", body).json["items"]} == {200}
        client.world.settle()
        assert listed(client, f"&state=all&{narrowed}", space) == []
        assert sorted(listed(client, "&state=all", space)) == left
        assert sorted(found(client, "tea", space)) == left


SPACES = ("personal", "project:rocket", "community:discord:1001", "community:telegram:-1001")


@pytest.mark.parametrize("name", SPACES)
def test_what_is_put_into_any_kind_of_space_comes_out_of_it(client: Client, name: str) -> None:
    """langchain-ai/langchain-aws#708; bedrock-agentcore-sdk-typescript PR#142: placeholders of a namespace were not
    filled, so recall was empty."""
    world = client.world
    world.add_project("rocket")
    for platform, community in (("discord", "1001"), ("telegram", "-1001")):
        made = client.post("/v1/communities", {"platform": platform, "id": community, "name": "Den"})
        assert made.status == 201, made.text
        path = f"/v1/communities/{platform}/{community}/team"
        assert client.post(path, {"account": "anna", "configure": True}).status == 201
    for other in SPACES:
        path = f"/v1/spaces/{other}"
        if other != "personal" and other.startswith("project"):
            client.post(f"{path}/categories", {"name": "General", "default": True})
        add(client, f"the lantern of {other.replace(':', ' ')}", path)
    space = f"/v1/spaces/{name}"
    for _ in range(2):
        assert memory(client, 1, space)["text"] == f"the lantern of {name.replace(':', ' ')}"
        assert listed(client, space=space) == found(client, "lantern", space) == [1]
        assert recalled(client, "the lantern", space) == [1]
        world.settle()
