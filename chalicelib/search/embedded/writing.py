"""Writing entries to a generation on disk: the highest revision stands."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.projection import IndexEntry
from chalicelib.ports import Analyzer
from chalicelib.search.embedded import tables
from chalicelib.search.embedded.record import Record, VectorKey, record


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries made ready for writing, those that cannot be written, and models that were not known yet."""

    records: Sequence[Record]
    failed: Sequence[IndexEntry]
    new_models: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Written:
    """What is on disk of a number now. `renewed`: its texts or vectors are not those of before."""

    record: Record
    renewed: bool


def batch_of(entries: Iterable[IndexEntry], analyzer: Analyzer, models: Mapping[str, int]) -> Batch:
    """Make entries ready. Fails those with a vector that is none, or not of its model's dimension."""
    records: list[Record] = []
    failed: list[IndexEntry] = []
    known = dict(models)
    for entry in entries:
        made = record(entry, analyzer)
        if made is None or not _fits(made.vectors, known):
            failed.append(entry)
        else:
            records.append(made)
    return Batch(records, failed, {model: size for model, size in known.items() if model not in models})


def _fits(vectors: Mapping[VectorKey, bytes], models: dict[str, int]) -> bool:
    """Whether all vectors of a model have its dimension; the first of a new model states it."""
    sizes = {(model, len(data) // 2) for (model, _role), data in vectors.items()}
    if len(sizes) > len({model for model, _size in sizes}):
        return False
    if any(models.get(model, size) != size for model, size in sizes):
        return False
    models.update(sizes)
    return True


def write(
    connection: sqlite3.Connection,
    generation: int,
    records: Iterable[Record],
    models: Collection[str],
    *,
    force: bool,
) -> list[Written]:
    """Write those that are newer than what is there (with `force` all) in the caller's transaction, and add the
    vectors of models that an equal revision lacks."""
    written = (_write(connection, generation, record, models, force=force) for record in records)
    return [each for each in written if each is not None]


def _write(
    connection: sqlite3.Connection, generation: int, new: Record, models: Collection[str], *, force: bool
) -> Written | None:
    before = tables.kept(connection, generation, new.space, new.row.number)
    if before is None:
        tables.put(connection, generation, new, {})
        return Written(new, renewed=True)
    vectors = tables.kept_vectors(connection, generation, new.space, new.row.number, models)
    if before.revision >= new.row.revision and not force:
        if before.revision > new.row.revision or before.state is None:
            return None
        lacking = {key: data for key, data in new.vectors.items() if key not in vectors}
        new = Record(new.space, before, vectors | lacking)
    tables.put(connection, generation, new, vectors)
    same = (
        before.words == new.row.words
        and before.context == new.row.context
        and all(new.vectors.get(key) == data for key, data in vectors.items())
    )
    return Written(new, renewed=not same)


def add_models(connection: sqlite3.Connection, models: Mapping[str, int]) -> None:
    """Note the dimensions of models that came up for the first time."""
    connection.executemany(
        "INSERT OR IGNORE INTO search_model (model, dimension) VALUES (?, ?)", models.items()
    )
