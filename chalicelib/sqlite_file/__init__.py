"""The one SQLite file of a laptop. Each part (stores, queue, embedded index) keeps its own tables in it, with its
own numbered steps, and shares one `Database`; a write returns only when it is on the disk."""

from chalicelib.sqlite_file.database import Database, Step

__all__ = ["Database", "Step"]
