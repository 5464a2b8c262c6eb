"""People, keys, projects, communities and settings over HTTP: every operation, its answer as the contract says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from chalice.test import Client

from app import app
from chalicelib import bootstrap
from chalicelib.domain.accounts import Account, AccountCommit, EntityWrite
from chalicelib.web import accounts_api, communities_api, keys_api, projects_api, settings_api
from chalicelib.web.operations import Operation
from tests.fakes.world import World

DOORS = (accounts_api, communities_api, keys_api, projects_api, settings_api)
OPERATIONS = {operation.name: operation for module in DOORS for operation in module.door.operations}


class Http:
    """Calls operations by their name, and holds each good answer to its shape in the contract."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.done: set[str] = set()

    def call(
        self,
        name: str,
        by: str | None,
        body: Any = None,
        *,
        query: str = "",
        idempotency: str | None = None,
        **parts: str,
    ) -> tuple[int, dict[str, Any]]:
        operation = OPERATIONS[name]
        headers = {"Authorization": f"Bearer {by}"} if by else {}
        if idempotency:
            headers["Idempotency-Key"] = idempotency
        text = b"" if body is None else json.dumps(body).encode()
        path = operation.path.format(**parts) + query
        response = self._client.http.request(operation.method, path, headers=headers, body=text)
        answer: dict[str, Any] = json.loads(response.body)
        if response.status_code < 400:
            self.done.add(name)
            _hold_to_contract(operation, response.status_code, answer)
        return response.status_code, answer

    def good(self, name: str, by: str, body: Any = None, **more: Any) -> dict[str, Any]:
        status, answer = self.call(name, by, body, **more)
        assert status == OPERATIONS[name].status, answer
        return answer

    def refused(self, name: str, by: str | None, body: Any = None, **more: Any) -> tuple[int, dict[str, Any]]:
        status, answer = self.call(name, by, body, **more)
        assert status >= 400, answer
        return status, answer["error"]


def _hold_to_contract(operation: Operation, status: int, answer: dict[str, Any]) -> None:
    assert status == operation.status
    assert operation.answer is not None
    operation.answer.model_validate(answer)


@pytest.fixture
def http(monkeypatch: pytest.MonkeyPatch) -> Iterator[Http]:
    world = World()
    monkeypatch.setattr(bootstrap, "_services", world.services)
    with Client(app) as client:
        yield Http(client)


@pytest.fixture
def root(http: Http) -> str:
    """The key of an admin."""
    services = bootstrap.services()
    account = Account(id="root", name="Root", admin=True, created_at=services.clock())
    services.parts.accounts.commit(AccountCommit(writes=(EntityWrite(entity=account, expected=None),)))
    return services.founding.new_key(account, "root", services.clock()).plain


def newcomer(http: Http, root: str, name: str) -> tuple[str, str]:
    """Another person's id and key."""
    answer = http.good("create_account", root, {"name": name, "first_key": True})
    return answer["account"]["id"], answer["key"]["key"]


def field_of(error: dict[str, Any]) -> str:
    field: str = error["details"]["fields"][0]["field"]
    return field


def test_the_life_of_everything_in_the_world_of_accounts(http: Http, root: str) -> None:
    """Every operation of these doors succeeds once, and its answer is what the contract says."""
    berta, key = newcomer(http, root, "Berta")
    _people(http, root, berta, key)
    _project(http, root, berta, key)
    _community(http, root, berta, key)
    settings = http.good("get_settings", root)["settings"]
    body = {"version": settings["version"], "recall": {"memories": 7}, "retention": {"daily_limit": 9}}
    assert http.good("edit_settings", root, body)["settings"]["recall"] == {"memories": 7, "bytes": 20_000}
    assert http.good("delete_account", root, account=berta)["account"]["disabled"] is True
    assert http.refused("get_me", key)[0] == 401
    assert http.good("get_account_audit", root)["items"][0]["op"] == "account.delete"
    assert http.done == set(OPERATIONS)


def _people(http: Http, root: str, berta: str, key: str) -> None:
    assert http.good("get_me", key)["account"]["id"] == berta
    assert http.good("edit_own_settings", key, {"maintenance": True})["settings"]["maintenance"] is True
    assert http.good("get_account", root, account=berta)["account"]["version"] == 2
    assert (
        http.good("edit_account", root, {"name": "B", "version": 2}, account=berta)["account"]["name"] == "B"
    )
    assert {account["id"] for account in http.good("list_accounts", root)["items"]} == {"anna", "root", berta}
    phone = http.good(
        "create_key", key, {"name": "Phone", "scopes": ["read"], "expires_at": "2099-01-01T00:00:00Z"}
    )
    assert http.good("get_me", phone["key"]["key"])["scopes"] == ["read"]
    assert len(http.good("list_keys", key)["items"]) == 2
    http.good("delete_key", key, key=phone["key"]["id"])
    assert http.refused("get_me", phone["key"]["key"])[0] == 401


def _project(http: Http, root: str, berta: str, key: str) -> None:
    project = http.good("create_project", key, {"name": "Garden"})["project"]["id"]
    assert http.refused("open_pool", key, project=project)[0] == 403
    assert http.good("open_pool", root, project=project)["project"]["pool"] is True
    assert [space["space"] for space in http.good("list_spaces", key)["items"]] == [
        "personal",
        f"project:{project}",
    ]
    assert http.good("close_pool", root, query="?version=2", project=project)["project"]["pool"] is False
    assert http.good("edit_project", key, {"name": "Park"}, project=project)["project"]["name"] == "Park"
    assert http.good("get_project", key, project=project)["project"]["version"] == 4
    assert http.good("add_member", key, {"account": "anna"}, project=project)["member"]["account"] == "anna"
    assert len(http.good("list_members", key, project=project)["items"]) == 2
    http.good("remove_member", key, project=project, account="anna")
    assert [one["id"] for one in http.good("list_projects", key)["items"]] == [project]
    assert http.good("delete_project", key, project=project)["deleted"] == {"project": project}


def _community(http: Http, root: str, berta: str, key: str) -> None:
    place = {"platform": "telegram", "community": "-100123"}
    http.good("create_community", root, {"platform": "telegram", "id": "-100123", "name": "Group"})
    assert http.refused("get_community", key, **place)[0] == 404
    assert http.good("add_to_team", root, {"account": berta}, **place)["member"]["configure"] is False
    assert http.good("get_community", key, **place)["community"]["name"] == "Group"
    edited = http.good("edit_team_member", root, {"configure": True}, account=berta, **place)
    assert edited["member"]["configure"] is True
    assert [one["account"] for one in http.good("list_team", key, **place)["items"]] == [berta]
    assert http.good("edit_community", root, {"name": "Club"}, **place)["community"]["name"] == "Club"
    assert [one["id"] for one in http.good("list_communities", key)["items"]] == ["-100123"]
    http.good("remove_from_team", root, account=berta, **place)
    assert http.good("delete_community", root, **place)["deleted"] == place


def test_a_repeat_under_the_same_key_answers_the_first_outcome(http: Http, root: str) -> None:
    first = http.good("create_project", root, {"name": "Garden", "pool": True}, idempotency="k-1")
    assert http.good("create_project", root, {"name": "Garden", "pool": True}, idempotency="k-1") == first
    status, error = http.refused("create_project", root, {"name": "Other"}, idempotency="k-1")
    assert (status, field_of(error)) == (422, "Idempotency-Key")
    assert len(http.good("list_projects", root)["items"]) == 1


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_without_a_credential_every_operation_is_refused(http: Http, name: str) -> None:
    parts = {"account": "a", "key": "k", "project": "p", "platform": "discord", "community": "c"}
    assert http.refused(name, None, **parts)[0] == 401
    assert http.refused(name, "plm_wrong", **parts)[0] == 401


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("create_account", {}, "name"),
        ("create_account", {"name": " "}, "name"),
        ("create_account", {"name": "a\u0000b"}, "name"),
        ("create_account", {"name": "\ud800"}, "name"),
        ("create_account", {"name": "x", "admin": "yes"}, "admin"),
        ("create_account", {"name": "x", "unknown": 1}, "unknown"),
        ("create_key", {"name": "x", "scopes": ["all"]}, "scopes"),
        ("create_key", {"name": "x", "scopes": ["write"]}, "scopes"),
        ("create_key", {"name": "x", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ("create_key", {"name": "x", "expires_at": "soon"}, "expires_at"),
        ("create_key", {"name": "x", "expires_at": 1}, "expires_at"),
        ("create_project", {"name": 7}, "name"),
        ("create_project", {"name": "x", "pool": 1}, "pool"),
        ("create_community", {"platform": "matrix", "id": "1", "name": "x"}, "platform"),
        ("create_community", {"platform": "discord", "id": "a#b", "name": "x"}, "id"),
        ("edit_own_settings", {"maintenance": None}, "maintenance"),
        ("edit_own_settings", {"unknown": True}, "unknown"),
        ("edit_own_settings", {}, "body"),
        ("edit_settings", {"recall": {"memories": 51}}, "recall.memories"),
        ("edit_settings", {"recall": {"memories": None}}, "recall.memories"),
        ("edit_settings", {"version": "1", "recall": {}}, "version"),
    ],
    ids=range(21),
)
def test_a_wrong_field_is_named(http: Http, root: str, name: str, body: dict[str, Any], field: str) -> None:
    status, error = http.refused(name, root, body)
    assert status == 422
    assert field_of(error).startswith(field), error


@pytest.mark.parametrize("identifier", ["a%23b", "a%2Fb", "a%25b", "a%00", "%20", "a:b", "_", "é", "a" * 129])
def test_an_id_that_is_none_is_refused(http: Http, root: str, identifier: str) -> None:
    for name, part in (("get_account", "account"), ("get_project", "project"), ("delete_key", "key")):
        status, error = http.refused(name, root, **{part: identifier})
        assert (status, field_of(error)) == (422, part)


def test_an_unknown_platform_is_a_community_that_does_not_exist(http: Http, root: str) -> None:
    assert http.refused("get_community", root, platform="matrix", community="c")[0] == 404


def test_a_cursor_of_another_list_is_refused(http: Http, root: str) -> None:
    for name in ("Garden", "Park"):
        http.good("create_project", root, {"name": name})
    cursor = http.good("list_projects", root, query="?limit=1")["next"]
    status, error = http.refused("list_accounts", root, query=f"?cursor={cursor}")
    assert (status, field_of(error)) == (422, "cursor")
    assert len(http.good("list_projects", root, query=f"?limit=1&cursor={cursor}")["items"]) == 1


def test_a_stale_version_is_refused_with_the_current_state(http: Http, root: str) -> None:
    status, error = http.refused("edit_account", root, {"name": "x", "version": 7}, account="anna")
    assert status == 409
    assert error["details"]["current"]["version"] == 1
    status, error = http.refused("delete_account", root, query="?version=7", account="anna")
    assert status == 409
