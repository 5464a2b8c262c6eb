"""Moving a space over HTTP: out of one installation, into another."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.moving import Arrivals
from chalicelib.domain.scope import Right, SpaceKind
from chalicelib.services.accounts.access import administrator
from chalicelib.web import moving_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import SPACE, PageQuery
from chalicelib.web.operations import Door

door = Door.of("moving")


@door.operation("GET", f"{SPACE}/export", query=PageQuery, answer=answers.ExportPage)
def export_space(call: Call) -> Mapping[str, Any]:
    """All that the space holds as of the first page, as records that another installation takes in.

    The first record is of the space; each category and memory comes after the changes that made it what it is. For the
    owner of a personal space, for those who may configure others; never for a model.
    """
    scope = call.scope(Right.READ)
    query = call.query(PageQuery)
    return call.services.export.page(scope, limit=query.limit, cursor=query.cursor)


@door.operation("POST", f"{SPACE}/import", body=Arrivals, answer=answers.TakenIn)
def import_space(call: Call) -> Mapping[str, Any]:
    """Take in up to 500 records of an export, in their order, into a space that is empty or that took in others of it.

    What is there already is passed over, so pages may be sent again. For the owner of a personal space, for admins
    elsewhere; never for a model.
    """
    scope = call.scope(Right.WRITE)
    if scope.space.kind is not SpaceKind.PERSONAL:
        administrator(call.caller)
    return call.services.take_in.page(scope, call.body(Arrivals), call.write())
