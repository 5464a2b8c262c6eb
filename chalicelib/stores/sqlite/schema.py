"""The tables of the stores, as numbered steps. A step that was published is never changed: add another.

Every table of a space begins with the space's key, and so does every index that is searched.
Bodies are JSON; columns beside them are what is searched, counted or compared.
"""

from chalicelib.sqlite_file import Database, Step

PART = "stores"

_FIRST: Step = (
    """CREATE TABLE memory (
        space TEXT NOT NULL,
        number INTEGER NOT NULL,
        version INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        use_count INTEGER NOT NULL,
        last_used_at TEXT,
        erased INTEGER NOT NULL,
        conversation TEXT,
        position INTEGER,
        context_from INTEGER,
        body TEXT NOT NULL,
        UNIQUE (space, number)
    )""",
    "CREATE INDEX memory_by_place ON memory (space, conversation, position, number) WHERE position IS NOT NULL",
    "CREATE INDEX memory_by_context ON memory (space, context_from, number) WHERE context_from IS NOT NULL",
    # The image is apart so that erasing can take it away and leave who, when and which number.
    """CREATE TABLE change (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        space TEXT NOT NULL,
        target TEXT NOT NULL,
        version INTEGER NOT NULL,
        at TEXT NOT NULL,
        grp TEXT NOT NULL,
        body TEXT NOT NULL,
        image TEXT,
        UNIQUE (space, target, version)
    )""",
    "CREATE INDEX change_by_time ON change (space, at, seq)",
    "CREATE INDEX change_by_group ON change (space, grp)",
    "CREATE TABLE counter (space TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE space (space TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE category (
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (space, id)
    )""",
    """CREATE TABLE job (
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (space, id)
    )""",
    "CREATE INDEX job_by_time ON job (space, created_at, id)",
    """CREATE TABLE vector (
        space TEXT NOT NULL,
        number INTEGER NOT NULL,
        model TEXT NOT NULL,
        role TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (space, number, model, role)
    )""",
    # AUTOINCREMENT: a sequence number that was worked on is never given to a later record.
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        since REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL DEFAULT 0,
        UNIQUE (kind, space, id)
    )""",
    "CREATE INDEX outbox_by_space ON outbox (space, kind, seq)",
    """CREATE TABLE idempotency (
        owner TEXT NOT NULL,
        key TEXT NOT NULL,
        expires_at TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (owner, key)
    )""",
    "CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)",
    # k1..k3: what tells an entity from others of its kind (`limits.identity`), '' where there is less.
    """CREATE TABLE entity (
        kind TEXT NOT NULL,
        k1 TEXT NOT NULL,
        k2 TEXT NOT NULL,
        k3 TEXT NOT NULL,
        account TEXT,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, k1, k2, k3)
    )""",
    "CREATE INDEX entity_by_account ON entity (kind, account) WHERE account IS NOT NULL",
    """CREATE TABLE audit (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_time ON audit (at, seq)",
)

STEPS: tuple[Step, ...] = (_FIRST,)


def prepare(database: Database) -> None:
    """Make sure that the file has the tables of the stores. Raises DataFolderError when they are newer than ours."""
    database.migrate(PART, STEPS)
