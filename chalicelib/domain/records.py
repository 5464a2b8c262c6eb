"""What is stored beside memories: a space's own record, vectors, idempotency, jobs; and the unit of writing."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.category import Category
from chalicelib.domain.change import Change
from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Actor

_FROZEN = ConfigDict(frozen=True, extra="forbid")

Role = Literal["text", "context"]
JobKind = Literal["reindex", "recategorise"]
JobState = Literal["queued", "running", "done", "failed"]


class SpaceRecord(BaseModel):
    """What is known of a space as a whole. A space that nobody wrote to yet has none."""

    model_config = _FROZEN

    space: str
    version: Annotated[int, Field(ge=1)] = 1
    created_at: Moment
    default_category: Id | None = None
    """Category of adds that name none (M8); empty by default."""
    embedded_with: tuple[str, ...] = ()
    """Fingerprints of the embedding models whose vectors are complete here (A6). Others answer by words."""
    trashed_at: tuple[Moment, ...] = ()
    """When cleanup moved memories to the trash, in the last 24 hours at least: its daily limit (M28)."""
    imported: Id | None = None
    """The export that was brought here, if any: the only one of which more may come."""
    with_context: bool = True
    """False only where no memory was ever stored with a context: searches leave out the two legs of context there. Set
    before the first such memory is stored, never unset. Records of earlier versions lack it and count as True."""


class Vector(BaseModel):
    """One embedded text of one memory, kept so that unchanged text is embedded once, even when an index is lost."""

    model_config = _FROZEN

    number: int
    role: Role
    model: str
    """Fingerprint of the embedding model (`EmbeddingModel.fingerprint`)."""
    text_hash: str
    """Hash of the text that was embedded (`domain.embedding.text_hash`); another text needs another vector."""
    data: bytes
    """float32, little endian, unit length."""


class IdempotencyRecord(BaseModel):
    """That a write was done, and where its outcome can be read again. Holds no text of a memory, so erasing a
    memory leaves nothing here (M13)."""

    model_config = _FROZEN

    owner: Id
    """The account whose request it was; keys of different accounts never meet."""
    key: Annotated[str, Field(min_length=1, max_length=300)]
    request_hash: str
    outcome: dict[str, Any]
    at: Moment
    expires_at: Moment


class Job(BaseModel):
    """Background work on one space, private to it (A6)."""

    model_config = _FROZEN

    id: Id
    space: str
    kind: JobKind
    state: JobState = "queued"
    asked_by: Actor
    created_at: Moment
    updated_at: Moment
    version: Annotated[int, Field(ge=1)] = 1
    total: int | None = None
    done: int = 0
    failed: int = 0
    cursor: int = 0
    """Last number that was worked on; a job that was interrupted goes on from here."""
    model: str | None = None
    """Fingerprint of the embedding model that this work is done with: what was done with another does not count."""
    error: str | None = None


class MemoryWrite(BaseModel):
    """A memory as it is to be. `expected` = the version it must be at; None = it must not exist.

    A write changes content, state and version. It does not carry use: `use_count`, `last_used_at` stay as the
    store has them, and `revision` is counted by the store (so recalls meanwhile are not lost).
    """

    model_config = _FROZEN

    memory: Memory
    expected: int | None


class CategoryWrite(BaseModel):
    """A category as it is to be; `expected` as in MemoryWrite."""

    model_config = _FROZEN

    category: Category
    expected: int | None


class SpaceWrite(BaseModel):
    """A space's record as it is to be; `expected` as in MemoryWrite."""

    model_config = _FROZEN

    record: SpaceRecord
    expected: int | None


class JobWrite(BaseModel):
    """A job as it is to be; `expected` as in MemoryWrite."""

    model_config = _FROZEN

    job: Job
    expected: int | None


class Commit(BaseModel):
    """All or nothing: items, their change records and the idempotency record, in one transaction."""

    model_config = _FROZEN

    memories: tuple[MemoryWrite, ...] = ()
    categories: tuple[CategoryWrite, ...] = ()
    spaces: tuple[SpaceWrite, ...] = ()
    jobs: tuple[JobWrite, ...] = ()
    changes: tuple[Change, ...] = ()
    idempotency: IdempotencyRecord | None = None
    vectors: tuple[Vector, ...] = ()
    """Kept with, but not part of, the promise: an adapter may write them just after the transaction."""
    strip: tuple[int, ...] = ()
    """Numbers whose text is to vanish everywhere (erase): images of all their changes become None, their vectors
    go. The adapter finishes this before `commit` returns; if it is interrupted, the stream finishes it."""
    strip_context: tuple[int, ...] = ()
    """Numbers whose vectors of role context are to go: their context was the text of a memory that is being
    erased. (Images of changes never hold such a context.)"""
