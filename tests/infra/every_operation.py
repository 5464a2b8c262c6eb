"""A life in which every operation of the HTTP API succeeds at least once, in few calls."""

from typing import Any

from chalicelib.web.doors import operations
from tests.fakes.client import Client, Reply

PERSONAL = "/v1/spaces/personal"


class Life:
    """Anna, an admin, does everything there is. `reached`: the operations that answered with success."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.reached: set[str] = set()

    def live(self) -> None:
        """Do all of it."""
        for step in (
            self._memories,
            self._categories,
            self._looking,
            self._people,
            self._projects,
            self._communities,
        ):
            step()

    def missing(self) -> list[str]:
        """Operations that never answered with success."""
        return sorted({one.name for one in operations()} - self.reached)

    # ------------------------------------------------------------------ one step each

    def _memories(self) -> None:
        m = f"{PERSONAL}/memories"
        self._do("create_category", "POST", f"{PERSONAL}/categories", {"name": "General", "default": True})
        source = {"conversation": "chat", "position": 1, "author": "Anna", "said_at": "2026-05-01T08:00:00Z"}
        self._do("add_memory", "POST", m, {"text": "The kettle is red.", "source": source})
        later = {**source, "position": 2}
        self._do(
            "add_memory", "POST", m, {"text": "It whistles.", "source": later}, {"Idempotency-Key": "one"}
        )
        self._do(
            "add_memory", "POST", m, {"text": "It whistles.", "source": later}, {"Idempotency-Key": "one"}
        )
        items: list[Any] = [{"text": f"Fact {number} about tea."} for number in range(1, 9)]
        # more vectors than one transaction takes
        items += [
            {"text": f"Turn {number} of a talk.", "context": f"Turn {number - 1}."} for number in range(9, 40)
        ]
        self._do("add_batch", "POST", f"{m}/batch", {"items": items})
        self._client.world.settle()
        self._do("edit_memory", "PATCH", f"{m}/1", {"version": 1, "text": "The kettle is blue."})
        self._do("get_memory", "GET", f"{m}/1")
        self._do("delete_memory", "DELETE", f"{m}/3")
        self._do("restore_memory", "POST", f"{m}/3/restore")
        self._do("retire_memory", "POST", f"{m}/4/retire", {"version": 1, "replaced_by": 5})
        body = {"numbers": [6, 7], "versions": {"6": 1, "7": 1}, "text": "Facts 4 and 5 about tea."}
        self._do("merge_memories", "POST", f"{m}/merge", body)
        self._do("change_many", "POST", f"{m}/bulk", {"op": "delete", "numbers": [8, 9]})
        self._do("undo_change", "POST", f"{PERSONAL}/changes/1-2/undo")
        self._do("get_history", "GET", f"{m}/1/history")
        self._client.world.settle()
        self._do("erase_memory", "POST", f"{m}/1/erase")
        self._do("list_memories", "GET", f"{m}?sort=oldest&q=tea")

    def _categories(self) -> None:
        c = f"{PERSONAL}/categories"
        made = self._do("create_category", "POST", c, {"name": "Work"})["category"]
        self._do("list_categories", "GET", c)
        self._do("get_category", "GET", f"{c}/{made['id']}")
        self._do("edit_category", "PATCH", f"{c}/{made['id']}", {"version": 1, "name": "Labour"})
        self._do("delete_category", "DELETE", f"{c}/{made['id']}")

    def _looking(self) -> None:
        self._do("search_memories", "POST", f"{PERSONAL}/search", {"query": "tea", "explain": True})
        self._do("recall_memories", "POST", f"{PERSONAL}/recall", {"query": "tea"})
        self._do("get_map", "GET", f"{PERSONAL}/map")
        self._do("get_audit", "GET", f"{PERSONAL}/audit")
        job = self._do("start_job", "POST", f"{PERSONAL}/jobs", {"kind": "reindex"})["job"]
        self._do("get_job", "GET", f"{PERSONAL}/jobs/{job['id']}")
        self._do("list_jobs", "GET", f"{PERSONAL}/jobs")
        self._do("start_job", "POST", f"{PERSONAL}/jobs", {"kind": "reindex", "all": True})
        self._do("list_spaces", "GET", "/v1/spaces")
        self._do("get_me", "GET", "/v1/me")
        self._do("edit_own_settings", "PATCH", "/v1/me/settings", {"maintenance": True})
        self._do("get_settings", "GET", "/v1/settings")
        self._do("edit_settings", "PATCH", "/v1/settings", {"recall": {"memories": 5}})
        for name, path in (
            ("get_health", "/v1/health"), ("get_diagnosis", "/v1/diagnosis"),
            ("get_contract", "/v1/openapi.json"), ("get_docs", "/v1/docs"),
        ):  # fmt: skip
            self._do(name, "GET", path)

    def _people(self) -> None:
        made = self._do("create_account", "POST", "/v1/accounts", {"name": "Berta", "first_key": True})[
            "account"
        ]
        one = f"/v1/accounts/{made['id']}"
        self._do("list_accounts", "GET", "/v1/accounts")
        self._do("get_account", "GET", one)
        self._do("edit_account", "PATCH", one, {"name": "Bertha"})
        self._do("delete_account", "DELETE", one)
        key = self._do("create_key", "POST", "/v1/keys", {"name": "phone", "scopes": ["read"]})["key"]
        self._do("list_keys", "GET", "/v1/keys")
        self._do("delete_key", "DELETE", f"/v1/keys/{key['id']}")
        self._do("get_account_audit", "GET", "/v1/audit")

    def _projects(self) -> None:
        made = self._do("create_project", "POST", "/v1/projects", {"name": "rocket", "pool": True})["project"]
        one = f"/v1/projects/{made['id']}"
        self._do("list_projects", "GET", "/v1/projects")
        self._do("get_project", "GET", one)
        self._do("edit_project", "PATCH", one, {"name": "shuttle"})
        self._client.world.add_account("carl")
        self._do("add_member", "POST", f"{one}/members", {"account": "carl"})
        self._do("list_members", "GET", f"{one}/members")
        self._do("remove_member", "DELETE", f"{one}/members/carl")
        self._move(f"/v1/spaces/project%3A{made['id']}")
        self._do("close_pool", "DELETE", f"{one}/pool")
        self._do("open_pool", "POST", f"{one}/pool")
        self._do("delete_project", "DELETE", one)

    def _move(self, pool: str) -> None:
        """Bring what is exported of one pool to another."""
        other = self._do("create_project", "POST", "/v1/projects", {"name": "copy", "pool": True})["project"]
        self._do("add_memory", "POST", f"{pool}/memories", {"text": "The rocket is white."})
        page = self._do("export_space", "GET", f"{pool}/export")
        space, *records = page["items"]
        body = {"space": space, "items": records}
        self._do("import_space", "POST", f"/v1/spaces/project%3A{other['id']}/import", body)

    def _communities(self) -> None:
        said = {"platform": "discord", "id": "1001", "name": "Den"}
        self._do("create_community", "POST", "/v1/communities", said)
        one = "/v1/communities/discord/1001"
        self._do("list_communities", "GET", "/v1/communities")
        self._do("get_community", "GET", one)
        self._do("edit_community", "PATCH", one, {"name": "Cave"})
        self._do("add_to_team", "POST", f"{one}/team", {"account": "carl"})
        self._do("list_team", "GET", f"{one}/team")
        self._do("edit_team_member", "PATCH", f"{one}/team/carl", {"configure": True})
        self._do("remove_from_team", "DELETE", f"{one}/team/carl")
        self._do("delete_community", "DELETE", one)

    def _do(
        self, name: str, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Any:
        answer: Reply = self._client.ask(method, path, body, headers=headers)
        assert answer.status < 300, (name, answer.status, answer.text)
        self.reached.add(name)
        return answer.json if answer.text and name != "get_docs" else None
