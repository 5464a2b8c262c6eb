"""The command's own settings, from the environment: where the service is, with which key, and the data folder of a
`make run`. The service's own settings pass them over (`chalicelib.settings.FOR_CLI`)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chalicelib.settings import FOR_CLI, PREFIX, Secret, SettingsError, Url, stated_in


class CliSettings(BaseModel):
    """What PALIMPSEST_CLI_URL, PALIMPSEST_CLI_KEY, PALIMPSEST_CLI_CONFIG and PALIMPSEST_DATA say."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: Url | None = Field(None, description="URL of the service.")
    key: Secret | None = Field(None, description="API key; it is not kept anywhere.")
    config: Path | None = Field(None, description="Folder in which the login is kept.")
    data: Path = Field(Path(".palimpsest"), description="Data folder of a `make run` on this machine.")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings that `environ` states. Raises SettingsError, which names what is wrong and never its value."""
        stated = stated_in(environ, FOR_CLI)
        if "data" in stated:
            raise SettingsError(f"{FOR_CLI}DATA: there is no such setting. Is {PREFIX}DATA meant?")
        if environ.get(f"{PREFIX}DATA", "").strip():
            stated["data"] = environ[f"{PREFIX}DATA"]
        try:
            return cls.model_validate(stated)
        except ValidationError as error:
            told = error.errors(include_input=False)
            raise SettingsError("\n".join(_explained(one["loc"], one["msg"]) for one in told)) from None


def _explained(place: tuple[int | str, ...], message: str) -> str:
    name = f"{FOR_CLI}{str(place[0]).upper()}"
    if message.startswith("Extra inputs"):
        return f"{name}: there is no such setting."
    return f"{name}: {message.removeprefix('Value error, ')}"
