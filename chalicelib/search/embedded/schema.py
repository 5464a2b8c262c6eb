"""The index's own tables in the SQLite file.

Keys begin with the generation (an index being built or in use), then the space: nothing is read without both.
Vectors are float16, half the size on disk; the cosine changes by less than 0.0005.
"""

from chalicelib.sqlite_file import Step

PART = "search"

STEPS: tuple[Step, ...] = (
    (
        """CREATE TABLE search_generation (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state TEXT NOT NULL CHECK (state IN ('building', 'live', 'old'))
        )""",
        "CREATE UNIQUE INDEX search_generation_live ON search_generation (state) WHERE state = 'live'",
        "CREATE UNIQUE INDEX search_generation_building ON search_generation (state) WHERE state = 'building'",
        """CREATE TABLE search_model (
            model TEXT PRIMARY KEY,
            dimension INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE search_entry (
            generation INTEGER NOT NULL,
            space TEXT NOT NULL,
            number INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            content_hash TEXT NOT NULL,
            state TEXT,
            kind TEXT,
            importance INTEGER,
            category TEXT,
            subject TEXT,
            conversation TEXT,
            position INTEGER,
            author TEXT,
            said_at INTEGER,
            has_context INTEGER,
            recorded_at INTEGER,
            updated_at INTEGER,
            use_count INTEGER,
            last_used_at INTEGER,
            words BLOB NOT NULL,
            context BLOB NOT NULL,
            PRIMARY KEY (generation, space, number)
        ) WITHOUT ROWID""",
        """CREATE TABLE search_vector (
            generation INTEGER NOT NULL,
            space TEXT NOT NULL,
            model TEXT NOT NULL,
            role TEXT NOT NULL,
            number INTEGER NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (generation, space, model, role, number)
        ) WITHOUT ROWID""",
    ),
)
"""`state` is NULL for a tombstone. Times are milliseconds since 1970."""
