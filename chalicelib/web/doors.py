"""All doors of the HTTP API, in the order of its documentation."""

from chalicelib.web import (
    accounts_api,
    categories_api,
    communities_api,
    health_api,
    keys_api,
    memories_api,
    moving_api,
    projects_api,
    search_api,
    settings_api,
)
from chalicelib.web.operations import Door, Operation

DOORS: tuple[Door, ...] = (
    health_api.door,
    memories_api.door,
    search_api.door,
    moving_api.door,
    categories_api.door,
    settings_api.door,
    keys_api.door,
    accounts_api.door,
    projects_api.door,
    communities_api.door,
)


def operations() -> list[Operation]:
    """Every operation, in order."""
    return [operation for door in DOORS for operation in door.operations]
