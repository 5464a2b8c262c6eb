"""The matrix: one row a case. What goes wrong with which part, and what a caller must be told meanwhile."""

from dataclasses import replace
from typing import Any

from tests.prove.degradation import breaking, faults
from tests.prove.degradation.breaking import by, impatiently
from tests.prove.degradation.faults import calls, edited, every_second, html, only, path_has, says, slow
from tests.prove.degradation.gateway import Fault
from tests.prove.degradation.stage import dynamodb_stage, embedder_stage, file_stage, opensearch_stage
from tests.prove.degradation.trial import Break, Case, Told

LATE_S = 0.1
"""Late, but not too late."""

FINE = Told()
FLAPPING = Told(
    add=(None, "embedder_unavailable"),
    search=(None, "embedder_unavailable"),
    health={"embedder": ("ok", "down")},
)
BY_WORDS = Told(
    add=("embedder_unavailable",), search=("embedder_unavailable",), health={"embedder": ("down",)}
)
WITHOUT_INDEX = Told(
    add=("index_unavailable",),
    search=("index_unavailable",),
    listed=("index_unavailable",),
    health={"index": ("down",)},
)
INDEX_AWAY = Told(
    add=(None, "index_missing", "index_unavailable"),
    search=(None, "index_missing", "index_unavailable"),
    listed=(None, "index_missing", "index_unavailable"),
    health={"index": ("ok", "missing", "down")},
)
INDEX_UNREADABLE = replace(WITHOUT_INDEX, health={"index": ("down",)})
HITS_UNREADABLE = replace(WITHOUT_INDEX, health={"index": ("ok", "down")})
INDEX_UNWRITABLE = Told(health={"index": ("down", "ok")})
NO_TABLE = Told(writes="refused", reads="refused", health={"table": ("down",)})
READ_ONLY_TABLE = Told(writes="refused", search=(None, "use_not_counted"), health={"table": ("down",)})
HALF_A_TABLE = Told(
    writes="either", reads="either", search=(None, "use_not_counted"), health={"table": ("ok", "down")}
)
DAMAGED_FILE = replace(
    HALF_A_TABLE, health={"table": ("down",), "index": ("ok", "down"), "queue": ("ok", "down")}
)


def _embedder(name: str, breaks: Break, told: Told = BY_WORDS) -> Case:
    return Case("embedder", name, embedder_stage, breaks, told)


def _opensearch(name: str, breaks: Break, told: Told = WITHOUT_INDEX) -> Case:
    return Case("index", name, opensearch_stage, breaks, told)


def _file(name: str, breaks: Break, told: Told = READ_ONLY_TABLE, part: str = "table") -> Case:
    return Case(part, name, file_stage, breaks, told)


def _dynamodb(name: str, breaks: Break, told: Told = NO_TABLE) -> Case:
    return Case("table", name, dynamodb_stage, breaks, told)


# ------------------------------------------------------------------ the embedding model


def _vectors(change: Any) -> Fault:
    """Each vector of an answer, changed."""

    def edit(said: dict[str, Any]) -> dict[str, Any]:
        for row in said["data"]:
            row["embedding"] = change(row["embedding"])
        return said

    return edited(edit)


def _rows(change: Any) -> Fault:
    """The list of vectors, changed."""

    def edit(said: dict[str, Any]) -> dict[str, Any]:
        return {**said, "data": change(said["data"])}

    return edited(edit)


NAN, INFINITE = float("nan"), float("inf")

EMBEDDER = (
    _embedder("refuses connections", breaking.refused),
    _embedder("hangs up", by(faults.hangs_up)),
    _embedder("no answer", by(faults.silent)),
    _embedder("late, in time", by(slow(LATE_S)), FINE),
    _embedder("trickles", by(faults.trickles)),
    _embedder("breaks off", by(faults.breaks_off)),
    _embedder("a page with 200", by(html())),
    _embedder("truncated JSON", by(faults.cut_short)),
    _embedder("empty body", by(says(200))),
    _embedder("204", by(says(204))),
    _embedder("huge answer", by(faults.huge(65))),
    _embedder("429, Retry-After an hour", by(says(429, {}, Retry_After="3600"))),
    _embedder("429, Retry-After nonsense", by(says(429, {}, Retry_After="soon"))),
    _embedder("429 every second time", by(every_second(says(429, {}, Retry_After="0"))), FLAPPING),
    _embedder("500", by(says(500, "oops"))),
    _embedder("503, a page", by(html(503))),
    _embedder("401", by(says(401, {"error": {"message": "bad key"}}))),
    _embedder("404", by(says(404, {"error": "no such model"}))),
    _embedder("redirect", breaking.redirected),
    _embedder("wrong dimension", by(_vectors(lambda row: [*row, 0.5]))),
    _embedder("NaN", by(_vectors(lambda row: [NAN, *row[1:]]))),
    _embedder("infinity", by(_vectors(lambda row: [INFINITE, *row[1:]]))),
    _embedder("zero vector", by(_vectors(lambda row: [0.0] * len(row)))),
    _embedder("overflowing numbers", by(_vectors(lambda row: [1e308] * len(row)))),
    _embedder("empty vector", by(_vectors(lambda _: []))),
    _embedder("null vector", by(_vectors(lambda _: None))),
    _embedder("text for a vector", by(_vectors(lambda _: "AAAAAA=="))),
    _embedder("texts for numbers", by(_vectors(lambda row: [str(one) for one in row]))),
    _embedder("no vectors", by(_rows(lambda _: []))),
    _embedder("fewer vectors than texts", by(_rows(lambda rows: rows[1:]))),
    _embedder("more vectors than texts", by(_rows(lambda rows: [*rows, *rows]))),
    _embedder("the same place twice", by(_rows(lambda rows: [{**row, "index": 1} for row in rows]))),
    _embedder("a list for an object", by(edited(lambda said: [said]))),
    _embedder("a number for an object", by(says(200, "7"))),
    _embedder("nested too deeply", by(says(200, "[" * 100_000))),
    _embedder("not UTF-8", by(says(200, b'{"data": "\xff\xfe"}'))),
    _embedder("gzip that is none", by(says(200, "{}", Content_Encoding="gzip"))),
)  # fmt: skip

# ------------------------------------------------------------------ the search engine

SEARCHING = path_has("_search", "_msearch")
WRITING = path_has("_bulk")


def _answers(change: Any) -> Fault:
    """Each answer to a search, changed, whether it came alone or in a bundle."""

    def edit(said: dict[str, Any]) -> dict[str, Any]:
        if "responses" in said:
            return {**said, "responses": [change(one) for one in said["responses"]]}
        return dict(change(said))

    return only(SEARCHING, edited(edit))


def _items(change: Any) -> Fault:
    """Each part of the answer to a write, changed."""
    return only(
        WRITING,
        edited(lambda said: {**said, "items": [{k: change(v) for k, v in i.items()} for i in said["items"]]}),
    )


def _hitless(said: dict[str, Any]) -> dict[str, Any]:
    """As if each hit were another thing."""
    hits = said.get("hits", {}).get("hits", [])
    return {**said, "hits": {"hits": [{"surprise": True} for _ in hits] or [{"surprise": True}]}}


OPENSEARCH = (
    _opensearch("refuses connections", breaking.refused),
    _opensearch("hangs up", by(faults.hangs_up)),
    _opensearch("no answer", impatiently(by(faults.silent))),
    _opensearch("late, in time", by(slow(LATE_S)), FINE),
    _opensearch("breaks off", by(faults.breaks_off)),
    _opensearch("a page with 200", by(html())),
    _opensearch("truncated JSON", by(faults.cut_short)),
    _opensearch("429", by(says(429, {"error": {"type": "circuit_breaking_exception"}, "status": 429}))),
    _opensearch("503, a page", by(html(503))),
    _opensearch("401", by(says(401, "Unauthorized"))),
    _opensearch("redirect", breaking.redirected),
    _opensearch("a list for an object", by(says(200, []))),
    _opensearch("a part of the shards failed", by(_answers(lambda s: {**s, "_shards": {"failed": 1}})), INDEX_UNREADABLE),
    _opensearch("timed out inside", by(_answers(lambda s: {**s, "timed_out": True})), INDEX_UNREADABLE),
    _opensearch("searches say nothing", by(only(SEARCHING, says(200, {}))), INDEX_UNREADABLE),
    _opensearch("answers without hits", by(_answers(lambda _: {"took": 1})), INDEX_UNREADABLE),
    _opensearch("hits of another kind", by(_answers(_hitless)), HITS_UNREADABLE),
    _opensearch("searches are refused (429)", by(only(SEARCHING, says(429, {"error": "busy"}))), INDEX_UNREADABLE),
    _opensearch("each write is refused (429)", by(_items(lambda _: {"status": 429, "error": {"type": "busy"}})), INDEX_UNWRITABLE),
    _opensearch("writes answer for fewer", by(only(WRITING, edited(lambda s: {**s, "items": s["items"][1:]}))), INDEX_UNWRITABLE),
    _opensearch("writes say nothing", by(only(WRITING, says(200, {}))), INDEX_UNWRITABLE),
    _opensearch("its disk is nearly full", breaking.flooded, INDEX_UNWRITABLE),
    _opensearch("all indices deleted", breaking.deleted(), INDEX_AWAY),
    _opensearch("vectors deleted", breaking.deleted("vectors"), INDEX_AWAY),
    _opensearch("indices closed", breaking.closed, INDEX_UNREADABLE),
    _opensearch("the name is taken", breaking.name_taken, INDEX_AWAY),
    _opensearch("wrong mapping", breaking.wrong_mapping, INDEX_AWAY),
)  # fmt: skip

# ------------------------------------------------------------------ the table

FILE = (
    _file("index dropped", breaking.dropped, INDEX_AWAY, "index"),
    _file("the disk has a quota", breaking.quota),
    _file("full to the last page", breaking.no_growth, HALF_A_TABLE),
    _file("locked by another program", breaking.locked),
    _file("locked for a moment", breaking.locked_shortly, FINE),
    _file("read-only", breaking.read_only),
    _file("damaged pages", breaking.damaged, DAMAGED_FILE),
)  # fmt: skip

WRITES = calls("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")


def _error(kind: str, status: int = 400) -> Fault:
    """An error as DynamoDB answers it."""
    said = {"__type": f"com.amazonaws.dynamodb.v20120810#{kind}", "message": "as the proof says"}
    return says(status, said, Content_Type="application/x-amz-json-1.0")


DYNAMODB = (
    _dynamodb("refuses connections", breaking.refused),
    _dynamodb("hangs up", by(faults.hangs_up)),
    _dynamodb("no answer", by(faults.silent)),
    _dynamodb("late, in time", by(slow(LATE_S)), FINE),
    _dynamodb("writes done, no answer", by(only(WRITES, faults.silent_when_done)), READ_ONLY_TABLE),
    _dynamodb("breaks off", by(faults.breaks_off)),
    _dynamodb("a page with 200", by(html())),
    _dynamodb("truncated JSON", by(faults.cut_short), NO_TABLE),
    _dynamodb("throttled", by(_error("ProvisionedThroughputExceededException"))),
    _dynamodb("writes throttled", by(only(WRITES, _error("ProvisionedThroughputExceededException"))), READ_ONLY_TABLE),
    _dynamodb("throttled every second time", by(every_second(_error("ThrottlingException"))), HALF_A_TABLE),
    _dynamodb("500", by(_error("InternalServerError", 500))),
    _dynamodb("503, a page", by(html(503))),
    _dynamodb("access denied", by(_error("AccessDeniedException"))),
    _dynamodb("writing denied", by(only(WRITES, _error("AccessDeniedException"))), READ_ONLY_TABLE),
    _dynamodb("table missing", by(_error("ResourceNotFoundException"))),
    _dynamodb("redirect", breaking.redirected),
    _dynamodb("transactions conflict", by(only(calls("TransactWriteItems"), _error("TransactionInProgressException"))), HALF_A_TABLE),
)  # fmt: skip

GROUPS = {"embedder": EMBEDDER, "file": FILE, "opensearch": OPENSEARCH, "dynamodb": DYNAMODB}
CASES = {f"{group}: {case.name}": case for group, cases in GROUPS.items() for case in cases}
