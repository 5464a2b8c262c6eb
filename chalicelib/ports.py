"""Every system that Palimpsest touches, as the services see it. Adapters implement these; contract suites hold
all adapters of a port to the same behaviour.

    stores      MemoryStore, AccountStore, InboxStore      DynamoDB | SQLite
                Storage                                     DynamoDB | SQLite
    search      SearchIndex, Analyzer                       OpenSearch | embedded
    providers   Embedder, Reranker                          none | bundled | OpenAI-compatible | Bedrock
                TokenVerifier                               OIDC
    queue       Queue                                       SQS | SQLite
    clock       Clock

Errors: stores raise StoreError's kinds, search raises SearchIndexError's, embedders raise EmbeddingError's
(`chalicelib.errors`), the token verifier IdentityProviderUnavailableError. Nothing else may leave an adapter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    AuditEntry,
    Community,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.category import Category
from chalicelib.domain.change import Change
from chalicelib.domain.diagnosis import IndexSeen, TablesSeen
from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.domain.filters import MemoryFilter, Sort
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.pages import Page
from chalicelib.domain.projection import Hit, IndexedState, IndexEntry, IndexPage, IndexQuery
from chalicelib.domain.records import Commit, IdempotencyRecord, Job, SpaceRecord, Vector
from chalicelib.domain.scope import Scope, Space
from chalicelib.domain.vitality import Retention

Clock = Callable[[], datetime]
"""Now, aware, in UTC."""


class MemoryStore(Protocol):
    """The truth about spaces: memories, categories, changes, vectors, jobs. Reads are strongly consistent."""

    def get(self, scope: Scope, number: int) -> Memory | None:
        """The memory in any state, the mark of an erased one included; None when the number was never used."""
        ...

    def get_many(self, scope: Scope, numbers: Sequence[int]) -> dict[int, Memory]:
        """Those of `numbers` (any count) that exist."""
        ...

    def reserve(self, scope: Scope, count: int) -> int:
        """The first of `count` consecutive numbers that nobody else will ever get (M3). Gaps are allowed."""
        ...

    def last_number(self, scope: Scope) -> int:
        """The highest number that was given out, or passed over; 0 when none was."""
        ...

    def pass_numbers(self, scope: Scope, last: int) -> None:
        """Give out no number up to `last` from now on. Those that are given out already stay so; safe to repeat."""
        ...

    def commit(self, scope: Scope, commit: Commit) -> None:
        """Write all of `commit`, or nothing.

        Raises StaleVersionError (targets: numbers as text, ids of categories, "space", ids of jobs),
        AlreadyDoneError (also when versions are stale too: the idempotency record is looked at first),
        ItemTooLargeError (before anything is written), StoreUnavailableError. Conflicts with other transactions
        are retried inside, with jitter.
        """
        ...

    def finish_strip(self, scope: Scope, number: int) -> bool:
        """Finish what a commit with `strip` began and was interrupted at; safe to repeat, at any time. False when
        nothing was left to do. For the pass that follows the table's stream."""
        ...

    def page(
        self, scope: Scope, *, after: int | None, limit: int, newest_first: bool = False
    ) -> list[Memory]:
        """Up to `limit` memories in any state in order of number, beyond `after`; fewer only at the end."""
        ...

    def unprojected(self, scope: Scope, limit: int) -> list[int]:
        """Numbers whose last write the index may not have yet, newest first (M25)."""
        ...

    def waiting(self, scope: Scope, numbers: Sequence[int]) -> dict[int, datetime]:
        """Since when each of these numbers waits for the index, by the clock of this store; not those of which the
        store knows that they wait no more. For operators' passes."""
        ...

    def at_position(self, scope: Scope, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Which number was said at (conversation, position); the newest when several. Erased ones are left out."""
        ...

    def context_of(self, scope: Scope, number: int) -> list[int]:
        """Numbers whose `context` was taken from memory `number` (`context_from`)."""
        ...

    def touch(self, scope: Scope, numbers: Sequence[int], at: datetime) -> None:
        """Count one recall of each (M26): use_count + 1, last_used_at = at, revision + 1; version stays.
        Numbers that do not exist are passed over."""
        ...

    def history(self, scope: Scope, target: str, *, after: int | None, limit: int) -> list[Change]:
        """Changes of a memory (its number as text) or category (its id), newest version first, below `after`."""
        ...

    def change(self, scope: Scope, target: str, version: int) -> Change | None:
        """One change."""
        ...

    def changes(self, scope: Scope, *, after: str | None, limit: int) -> Page[Change]:
        """All changes of the space, newest first; `after` is a page's `next`."""
        ...

    def group(self, scope: Scope, group: str) -> list[Change]:
        """All changes of one group, in no order."""
        ...

    def categories(self, scope: Scope) -> list[Category]:
        """All categories of the space, deleted ones too, by name."""
        ...

    def space(self, scope: Scope) -> SpaceRecord | None:
        """The space's own record."""
        ...

    def vectors(self, scope: Scope, numbers: Sequence[int], model: str) -> list[Vector]:
        """The kept vectors of these memories, of one model."""
        ...

    def put_vectors(self, scope: Scope, vectors: Sequence[Vector]) -> None:
        """Keep vectors; an older one of the same number, role and model is replaced.
        Those of numbers that are erased meanwhile must not come back: they are dropped."""
        ...

    def job(self, scope: Scope, job: str) -> Job | None:
        """One job of this space."""
        ...

    def jobs(self, scope: Scope, limit: int) -> list[Job]:
        """The newest jobs of this space."""
        ...

    def spaces(self) -> Iterator[Space]:
        """Every space that holds something. For operators' passes only (reconciler, rebuild): takes no scope and
        gives no content."""
        ...


class InboxStore(Protocol):
    """What was done already: idempotency records. They are written by the commits of the other stores."""

    def outcome(self, owner: str, key: str, now: datetime) -> IdempotencyRecord | None:
        """The record, unless it has expired."""
        ...


class AccountStore(Protocol):
    """People, logins, keys, projects, communities, settings of the installation. Reads are strongly consistent."""

    def account(self, account: str) -> Account | None: ...
    def accounts(self, *, after: str | None, limit: int) -> Page[Account]: ...
    def login(self, issuer: str, subject: str) -> Login | None: ...
    def key(self, key: str) -> ApiKey | None: ...
    def keys_of(self, account: str) -> list[ApiKey]: ...
    def touch_key(self, key: str, at: datetime) -> None:
        """Note when a key was last used. Passed over when the key is gone."""
        ...

    def project(self, project: str) -> Project | None: ...
    def projects(self, *, after: str | None, limit: int) -> Page[Project]: ...
    def member(self, project: str, account: str) -> Member | None: ...
    def members(self, project: str) -> list[Member]: ...
    def memberships(self, account: str) -> list[Member]: ...
    def community(self, platform: str, community: str) -> Community | None: ...
    def communities(self, *, after: str | None, limit: int) -> Page[Community]: ...
    def team_member(self, platform: str, community: str, account: str) -> TeamMember | None: ...
    def team(self, platform: str, community: str) -> list[TeamMember]: ...
    def teams_of(self, account: str) -> list[TeamMember]: ...
    def installation(self) -> Installation: ...
    def audit(self, *, after: str | None, limit: int) -> Page[AuditEntry]:
        """What was done to accounts, keys, projects, communities and settings; newest first."""
        ...

    def commit(self, commit: AccountCommit) -> None:
        """Write all of `commit`, or nothing; raises as MemoryStore.commit does."""
        ...


class Storage(Protocol):
    """What everything is kept in, as an operator looks at it: no content."""

    def look(self) -> TablesSeen:
        """Which tables are missing or without their stream, and what time it is there. Raises StoreUnavailableError
        when nobody answers, or it may not be asked."""
        ...


class Analyzer(Protocol):
    """Texts as stems, for the few places outside search that compare words."""

    def stems(self, text: str) -> Sequence[str]:
        """Stems in order, with repetition, without stop words."""
        ...

    def overlap(self, a: Sequence[str], b: Sequence[str]) -> float:
        """How alike two texts are by their stems, 0..1."""
        ...

    def coverage(self, query: Sequence[str], text: Sequence[str]) -> float:
        """Share of the query's stems that the text has, 0..1."""
        ...


class SearchIndex(Protocol):
    """The projection of the table that is searched and listed. Words of all, vectors of each model apart."""

    def search(self, scope: Scope, queries: Sequence[IndexQuery]) -> list[list[Hit]]:
        """For each query the union of its legs' hits, in no order, only of the scope's space, only those that
        the filter matches. Raises IndexMissingError, IndexUnavailableError."""
        ...

    def browse(
        self,
        scope: Scope,
        wanted: MemoryFilter,
        *,
        sort: Sort,
        limit: int,
        after: tuple[int, int] | None = None,
        text: str | None = None,
        now: datetime,
        retention: Retention,
    ) -> IndexPage:
        """A page of the list in the order of `domain.filters.order(sort_value(…), number, sort)`: rows beyond
        `after`, the (sort value, number) of a row that need not be in the index. `text`: every stem of it must be
        in the memory's words. `vitality` is as of `now` with `retention`."""
        ...

    def counts(self, scope: Scope) -> Mapping[State, int]:
        """How many memories the index has in each state."""
        ...

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """Make the index hold these; returns those that failed (to be tried again). A lower revision than it has
        changes nothing; an equal one only adds vectors that the index lacks. While a rebuild runs, they go to both the old and the new index.
        Raises IndexMissingError when there is no index at all, IndexUnavailableError."""
        ...

    def repair(self, entries: Sequence[IndexEntry]) -> None:
        """As `apply`, but these win over whatever revision the index claims to have (the table says so)."""
        ...

    def indexed(self, scope: Scope, *, after: int, limit: int) -> list[IndexedState]:
        """What the index holds of this space, tombstones too, in order of number beyond `after`."""
        ...

    def ready(self) -> bool:
        """Whether a complete index is there. Raises IndexUnavailableError when the engine does not answer."""
        ...

    def inspect(self) -> IndexSeen:
        """What an operator must know of the whole: is it complete, what is in its way, which vectors it holds.
        Raises IndexUnavailableError."""
        ...

    def rebuild_begin(self) -> str:
        """Start a new, empty index beside the one in use (which goes on answering); its name.
        One that was begun and not finished is dropped first."""
        ...

    def rebuild_apply(self, name: str, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """As `apply`, only into the index that is being built."""
        ...

    def rebuild_finish(self, name: str) -> None:
        """Put the new index in the place of the old at one stroke, and drop the old one."""
        ...

    def drop(self) -> None:
        """Delete all index data, as an operator or an accident would. The table is untouched."""
        ...


class Embedder(Protocol):
    """Texts to vectors: float32 bytes, little endian, unit length, `model.dimension` long."""

    @property
    def model(self) -> EmbeddingModel:
        """Which model it is."""
        ...

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Vectors of texts that are stored. Raises EmbedderUnavailableError, EmbeddingDimensionError."""
        ...

    def query(self, text: str) -> bytes:
        """Vector of what is searched for. Raises as `passages`."""
        ...


class Reranker(Protocol):
    """A second model that looks at query and text together. None by default."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Relevance of each text, 0..1."""
        ...


class Queue(Protocol):
    """Messages that wake a worker; in order within a group, at least once."""

    def send(self, group: str, body: Mapping[str, object], *, deduplicate: str) -> None:
        """Hand over one message; the same `deduplicate` within five minutes is sent once."""
        ...

    def depth(self) -> int:
        """How many messages wait. Raises StoreError when the queue does not answer."""
        ...


class TokenVerifier(Protocol):
    """Tokens of the OIDC provider."""

    def claims(self, token: str, now: datetime) -> Mapping[str, object] | None:
        """The claims of a token whose signature, algorithm, issuer, audience and times hold; None for any other.
        Raises IdentityProviderUnavailableError when the provider's keys cannot be had."""
        ...
