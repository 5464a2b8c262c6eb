"""Search, recall and background jobs over HTTP."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.drafts import NewJob, Recall, Search
from chalicelib.domain.scope import Right
from chalicelib.services.accounts.access import administrator
from chalicelib.web import answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import SPACE
from chalicelib.web.operations import Door

door = Door.of("search")


@door.operation("POST", f"{SPACE}/search", body=Search, answer=answers.SearchAnswer)
def search_memories(call: Call) -> Mapping[str, Any]:
    """Find memories by meaning and words; each says why it was found (SPEC M23)."""
    draft = call.body(Search)
    scope = call.scope(Right.READ, draft.project)
    return call.services.search.search(scope, draft, by_model=call.caller.acts_as == "model")


@door.operation("POST", f"{SPACE}/recall", body=Recall, answer=answers.RecallAnswer)
def recall_memories(call: Call) -> Mapping[str, Any]:
    """What a model is to be given for a message, within a budget; and what was left out (SPEC M19, M24)."""
    draft = call.body(Recall)
    scope = call.scope(Right.READ, draft.project)
    return call.services.search.recall(scope, draft)


@door.operation("GET", f"{SPACE}/map", answer=answers.MapAnswer)
def get_map(call: Call) -> Mapping[str, Any]:
    """The newest active memories as points in the plane, near ones alike in meaning (SPEC M17)."""
    return call.services.map.draw(call.scope(Right.READ))


@door.operation("POST", f"{SPACE}/jobs", status=202, body=NewJob, answer=answers.OneJob)
def start_job(call: Call) -> Mapping[str, Any]:
    """Start reindexing after the embedding model changed (SPEC A6); `all` = in every space, by an admin."""
    scope = call.scope(Right.WRITE)
    draft = call.body(NewJob)
    if draft.all:
        administrator(call.caller)
        return {"started": call.services.jobs.start_everywhere(scope, call.write())}
    return call.services.jobs.start(scope, draft, call.write())


@door.operation("GET", f"{SPACE}/jobs", answer=answers.Jobs)
def list_jobs(call: Call) -> Mapping[str, Any]:
    """The newest jobs of the space."""
    return {"items": call.services.jobs.listed(call.scope(Right.READ)), "next": None}


@door.operation("GET", f"{SPACE}/jobs/{{job}}", answer=answers.OneJob)
def get_job(call: Call) -> Mapping[str, Any]:
    """A job's progress and failures."""
    return call.services.jobs.get(call.scope(Right.READ), call.identifier("job"))
