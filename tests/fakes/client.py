"""HTTP without a network: the laptop's WSGI front around the Chalice app, over a World in memory."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app import app
from chalicelib import bootstrap
from infra.local.front import Front
from tests.fakes.world import World

MAX_BODY = 6 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON values."""
        return json.loads(self.text)

    @property
    def fields(self) -> list[str]:
        """Which fields a 422 names."""
        return [one["field"] for one in self.json["error"]["details"].get("fields", [])]


class Client:
    """Asks as the owner of an installation, unless told otherwise."""

    def __init__(self, world: World) -> None:
        self.world = world
        bootstrap.use(world.services)
        anna = world.parts.accounts.account("anna")
        assert anna is not None
        self.key = world.services.founding.new_key(anna, "Anna's key", world.now).plain
        self._front = Front(app, MAX_BODY)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One request. `key`: another API key; an empty one sends none. `raw`: the body as bytes."""
        content = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        token = self.key if key is None else key
        named = {"Authorization": f"Bearer {token}"} if token else {}
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "REQUEST_URI": path,
            "PATH_INFO": path,
            "CONTENT_LENGTH": str(len(content)),
            "CONTENT_TYPE": "application/json",
            "wsgi.input": io.BytesIO(content),
        }
        for name, value in {**named, **(headers or {})}.items():
            environ[f"HTTP_{name.upper().replace('-', '_')}"] = value
        said: dict[str, Any] = {}

        def start(status: str, sent: list[tuple[str, str]]) -> None:
            said.update(
                status=int(status.split(maxsplit=1)[0]), headers={name.lower(): value for name, value in sent}
            )

        content = b"".join(self._front(environ, start))
        assert said["headers"]["content-length"] == str(len(content)) or method == "HEAD"
        return Reply(said["status"], said["headers"], content.decode())

    def get(self, path: str, **how: Any) -> Reply:
        """GET."""
        return self.ask("GET", path, **how)

    def post(self, path: str, body: object = None, **how: Any) -> Reply:
        """POST."""
        return self.ask("POST", path, body, **how)

    def patch(self, path: str, body: object = None, **how: Any) -> Reply:
        """PATCH."""
        return self.ask("PATCH", path, body, **how)

    def delete(self, path: str, **how: Any) -> Reply:
        """DELETE."""
        return self.ask("DELETE", path, **how)
