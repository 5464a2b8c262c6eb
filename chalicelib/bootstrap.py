"""Where everything is put together: settings choose the adapters, adapters go into the use cases.

The only module that knows both sides. What an installation does not use is never imported.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from chalicelib.domain.clock import to_utc
from chalicelib.domain.memory import State
from chalicelib.domain.scope import Scope, Space
from chalicelib.errors import EmbeddingError, SearchIndexError
from chalicelib.mending import fixes_for
from chalicelib.observability import configure
from chalicelib.ports import (
    AccountStore,
    Analyzer,
    Clock,
    Embedder,
    InboxStore,
    MemoryStore,
    Queue,
    Reranker,
    SearchIndex,
    Storage,
    TokenVerifier,
)
from chalicelib.services.accounts.access import Access
from chalicelib.services.accounts.communities import Communities
from chalicelib.services.accounts.founding import Founding
from chalicelib.services.accounts.installation import InstallationSettings
from chalicelib.services.accounts.keys import Keys
from chalicelib.services.accounts.ledger import Ledger
from chalicelib.services.accounts.people import People
from chalicelib.services.accounts.projects import Projects
from chalicelib.services.accounts.sign_in import OidcRules, SignIn
from chalicelib.services.accounts.spaces import SpaceList
from chalicelib.services.diagnosis import Diagnosis
from chalicelib.services.health import Health
from chalicelib.services.memory.categories import Categories
from chalicelib.services.memory.context import Spaces
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.export import Export
from chalicelib.services.memory.jobs import Jobs
from chalicelib.services.memory.map import Map
from chalicelib.services.memory.merge import MergeMemories
from chalicelib.services.memory.project import Projector, Rebuild, Reconciler
from chalicelib.services.memory.reading import Read
from chalicelib.services.memory.recall import SearchAndRecall
from chalicelib.services.memory.remember import Remember
from chalicelib.services.memory.retain import Retain
from chalicelib.services.memory.revise import Revise
from chalicelib.services.memory.search import Finder
from chalicelib.services.memory.similar import Similar
from chalicelib.services.memory.take_in import TakeIn
from chalicelib.services.memory.thresholds import ThresholdsInForce
from chalicelib.services.memory.undo import Undo
from chalicelib.settings import Settings, SettingsError

if TYPE_CHECKING:
    from chalicelib.sqlite_file import Database
    from chalicelib.stores.dynamodb.database import Database as Tables


@dataclass(frozen=True)
class Parts:
    """The adapters in use."""

    memories: MemoryStore
    accounts: AccountStore
    inbox: InboxStore
    storage: Storage
    index: SearchIndex
    analyzer: Analyzer
    embedder: Embedder | None
    queue: Queue
    tokens: TokenVerifier | None = None
    reranker: Reranker | None = None


@dataclass(frozen=True)
class Services:
    """The use cases, by the name of what they are about."""

    settings: Settings
    clock: Clock
    parts: Parts
    # people
    access: Access
    sign_in: SignIn
    people: People
    keys: Keys
    projects: Projects
    communities: Communities
    installation: InstallationSettings
    space_list: SpaceList
    founding: Founding
    # memories
    remember: Remember
    revise: Revise
    merge: MergeMemories
    undo: Undo
    read: Read
    search: SearchAndRecall
    categories: Categories
    map: Map
    jobs: Jobs
    export: Export
    take_in: TakeIn
    # the index
    projector: Projector
    rebuild: Rebuild
    reconciler: Reconciler
    retain: Retain
    health: Health
    diagnosis: Diagnosis


def utc_now() -> datetime:
    """Now, in UTC, in milliseconds."""
    return to_utc(datetime.now(UTC))


def build(settings: Settings, parts: Parts, clock: Clock = utc_now) -> Services:
    """The use cases over these adapters."""
    store, accounts, inbox, index = parts.memories, parts.accounts, parts.inbox, parts.index
    embedding = Embedding(parts.embedder, store)
    spaces = Spaces(store, accounts, clock, embedding.fingerprint)
    thresholds = ThresholdsInForce(accounts, parts.embedder.model if parts.embedder else None)
    similar = Similar(store, index, parts.analyzer, embedding)
    finder = Finder(store, index, parts.analyzer, embedding, thresholds, settings.ranking, parts.reranker)
    projector = Projector(store, index, embedding)
    ledger = Ledger(accounts, inbox)
    access = Access(accounts)
    return Services(
        settings=settings,
        clock=clock,
        parts=parts,
        access=access,
        sign_in=SignIn(accounts, parts.tokens, _oidc_rules(settings)),
        people=People(accounts, ledger),
        keys=Keys(accounts, ledger),
        projects=Projects(accounts, ledger),
        communities=Communities(accounts, ledger),
        installation=InstallationSettings(accounts, ledger, thresholds),
        space_list=SpaceList(access, _counts(index)),
        founding=Founding(accounts),
        remember=Remember(spaces, store, inbox, embedding, similar, thresholds),
        revise=Revise(spaces, store, inbox),
        merge=MergeMemories(spaces, store, inbox),
        undo=Undo(spaces, store, inbox),
        read=Read(spaces, store, index, parts.analyzer),
        search=SearchAndRecall(spaces, store, finder, parts.analyzer),
        categories=Categories(spaces, store, inbox, embedding, accounts),
        map=Map(spaces, store, parts.analyzer, embedding),
        jobs=Jobs(spaces, store, inbox, index, embedding, projector, parts.queue, clock),
        export=Export(spaces, store),
        take_in=TakeIn(spaces, store, inbox, embedding),
        projector=projector,
        rebuild=Rebuild(store, index, projector),
        reconciler=Reconciler(store, index, embedding, projector),
        retain=Retain(store, accounts, index, clock),
        health=Health(store, accounts, index, parts.embedder, parts.queue, clock),
        diagnosis=_diagnosis(settings, parts, embedding, clock),
    )


def _diagnosis(settings: Settings, parts: Parts, embedding: Embedding, clock: Clock) -> Diagnosis:
    stores, fixes = (parts.memories, parts.accounts, parts.storage), fixes_for(settings)
    return Diagnosis(*stores, parts.index, parts.embedder, parts.queue, embedding, clock, fixes)


def _counts(index: SearchIndex) -> Callable[[Scope], dict[State, int] | None]:
    def counts(scope: Scope) -> dict[State, int] | None:
        try:
            return dict(index.counts(scope))
        except SearchIndexError:
            return None

    return counts


def _oidc_rules(settings: Settings) -> OidcRules | None:
    if settings.oidc_issuer is None:
        return None
    return OidcRules(
        settings.oidc_issuer,
        create_accounts=settings.oidc_create_accounts,
        admin_claim=settings.oidc_admin_claim,
        admin_value=settings.oidc_admin_value,
    )


def parts_of(settings: Settings, database: "Database | None" = None) -> Parts:
    """The adapters that the settings choose. `database`: the SQLite file, where one is used.

    Opens nothing over a network; files only where SQLite or the embedded index is chosen.
    """
    return Parts(
        *_stores(settings, database),
        index=_index(settings, database),
        analyzer=_analyzer(),
        embedder=_embedder(settings),
        queue=_queue(settings, database),
        tokens=_tokens(settings),
    )


_LOCK = threading.Lock()
_services: Services | None = None


def services() -> Services:
    """The use cases of this process; built at first use, from the environment unless `use` came before."""
    global _services  # noqa: PLW0603 - one process, one composition
    if _services is None:
        with _LOCK:
            if _services is None:
                settings = Settings.from_environment(secrets=_kept_secrets)
                configure(level=settings.log_level, metrics=settings.metrics)
                _services = build(settings, parts_of(settings))
    return _services


def _kept_secrets(secret: str, region: str) -> Mapping[str, str]:
    from chalicelib.providers.secrets_manager import SecretUnreadableError, kept_secrets

    try:
        return kept_secrets(secret, region)
    except SecretUnreadableError as error:
        raise SettingsError(f"PALIMPSEST_SECRET: {error}") from error


def use(chosen: Services) -> None:
    """Serve with these use cases from now on (the laptop, and tests)."""
    global _services  # noqa: PLW0603 - one process, one composition
    _services = chosen


def _stores(
    settings: Settings, database: "Database | None"
) -> tuple[MemoryStore, AccountStore, InboxStore, Storage]:
    if settings.store == "sqlite":
        from chalicelib.stores.sqlite.accounts import SqliteAccountStore
        from chalicelib.stores.sqlite.inbox import SqliteInboxStore
        from chalicelib.stores.sqlite.inspection import SqliteStorage
        from chalicelib.stores.sqlite.memories import SqliteMemoryStore

        file = _needed(database)
        kept = SqliteMemoryStore(file, clock=utc_now)
        return kept, SqliteAccountStore(file), SqliteInboxStore(file), SqliteStorage(file)
    from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
    from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
    from chalicelib.stores.dynamodb.inspection import DynamoStorage
    from chalicelib.stores.dynamodb.memories import DynamoMemoryStore

    tables = tables_of(settings)
    fresh = timedelta(seconds=settings.fresh_seconds)
    memories = DynamoMemoryStore(tables, clock=utc_now, unprojected_for=fresh)
    return memories, DynamoAccountStore(tables), DynamoInboxStore(tables), DynamoStorage(tables)


def tables_of(settings: Settings) -> "Tables":
    """The DynamoDB tables that the settings name. Sends nothing yet."""
    from chalicelib.stores.dynamodb.database import Access as TableAccess
    from chalicelib.stores.dynamodb.database import Database as Tables
    from chalicelib.stores.dynamodb.retries import Retries

    return Tables(
        TableAccess(
            prefix=settings.table_prefix,
            region=settings.region,
            endpoint=settings.dynamodb_endpoint,
            connect_timeout=settings.dynamodb_connect_timeout,
            read_timeout=settings.dynamodb_read_timeout,
            connections=settings.threads + 2,
            retries=Retries(attempts=settings.dynamodb_attempts),
        )
    )


def written(partition_key: str, sort_key: str) -> tuple[Literal["memory", "job"], Space, str] | None:
    """What a record of the memory table's stream is about, from its item's keys: a memory, by its number as text, or
    a job, by its id; None for all else. Raises ValueError for keys that are not ours."""
    from chalicelib.stores.dynamodb.keys import written as of_keys

    return of_keys(partition_key, sort_key)


def _index(settings: Settings, database: "Database | None") -> SearchIndex:
    if settings.search == "embedded":
        from chalicelib.search.embedded.index import EmbeddedIndex

        return EmbeddedIndex(_needed(database), _analyzer())
    from chalicelib.search.opensearch.client import Client, Patience
    from chalicelib.search.opensearch.index import OpenSearchIndex

    client = Client(
        settings.opensearch_url or "",
        http_auth=_opensearch_auth(settings),
        patience=Patience(
            connect_s=settings.opensearch_connect_timeout,
            read_s=settings.opensearch_read_timeout,
            work_s=settings.opensearch_work_timeout,
        ),
    )
    try:
        return OpenSearchIndex(client, _analyzer(), prefix=settings.opensearch_prefix)
    except ValueError as error:
        raise SettingsError(f"PALIMPSEST_OPENSEARCH_PREFIX: {error}") from error


def _opensearch_auth(settings: Settings) -> object:
    """What opensearch-py takes: a signer of requests (AWS), user and password, or None."""
    if settings.opensearch_sign:
        from boto3 import Session
        from opensearchpy import Urllib3AWSV4SignerAuth

        return Urllib3AWSV4SignerAuth(Session().get_credentials(), settings.region, "es")
    user, password = settings.opensearch_user, settings.opensearch_password
    return (user, password.get_secret_value()) if user and password else None


def _analyzer() -> Analyzer:
    from chalicelib.search import text

    return text


def _embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name. Raises SettingsError when it is not installed, or not known."""
    try:
        return _chosen_embedder(settings)
    except EmbeddingError as error:
        raise SettingsError(f"PALIMPSEST_EMBEDDER: {error}") from error


def _chosen_embedder(settings: Settings) -> Embedder | None:
    relevance, duplicate = settings.embedding_relevance, settings.embedding_duplicate
    if settings.embedder == "none":
        return None
    if settings.embedder == "bundled":
        from chalicelib.providers.bundled import BundledEmbedder

        return BundledEmbedder(relevance=relevance, duplicate=duplicate)
    from chalicelib.providers.known_models import described

    model = described(
        settings.embedder,
        settings.embedding_model or "",
        settings.embedding_dimension,
        relevance=relevance,
        duplicate=duplicate,
    )
    timeout, attempts = settings.embedding_timeout, settings.embedding_attempts
    if settings.embedder == "openai":
        from chalicelib.providers.openai_compatible import OpenAiEmbedder

        return OpenAiEmbedder(
            model,
            settings.embedding_url or "",
            key=settings.embedding_key,
            timeout=timeout,
            attempts=attempts,
            batch=settings.embedding_batch,
            text_bytes=settings.embedding_text_bytes,
        )
    from chalicelib.providers.bedrock import BedrockEmbedder

    return BedrockEmbedder(model, settings.region, timeout=timeout, attempts=attempts)


def _queue(settings: Settings, database: "Database | None") -> Queue:
    if settings.queue_url is not None:
        from chalicelib.queues.sqs import SqsQueue

        return SqsQueue(settings.queue_url, settings.region)
    from chalicelib.queues.sqlite import SqliteQueue

    return SqliteQueue(_needed(database), clock=utc_now)


def _tokens(settings: Settings) -> TokenVerifier | None:
    if settings.oidc_issuer is None:
        return None
    from chalicelib.providers.oidc import OidcTokens, key_set_at

    source = key_set_at(settings.oidc_jwks_url or "")
    return OidcTokens(settings.oidc_issuer, settings.oidc_audience or "", source)


def _needed(database: "Database | None") -> "Database":
    if database is None:
        raise SettingsError(
            "SQLite is chosen (PALIMPSEST_STORE, PALIMPSEST_SEARCH), which needs a data folder."
        )
    return database
