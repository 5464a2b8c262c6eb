"""What was acknowledged is there after `kill -9`, and programs that share the file do not get in each other's way
(RELIABILITY R1)."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox
from tests.contracts.stores.given import ME, add

WRITER = """
import sys, threading
from datetime import UTC, datetime
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from tests.contracts.stores.given import ME, add

store = SqliteMemoryStore(Database(sys.argv[1]), clock=lambda: datetime.now(UTC))
lock = threading.Lock()

def work():
    while True:
        number = store.reserve(ME, 1)
        add(store, number)
        with lock:
            print(number, flush=True)

for _ in range(4):
    threading.Thread(target=work).start()
"""

RESERVER = """
import sys
from datetime import UTC, datetime
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from tests.contracts.stores.given import ME

database = Database(sys.argv[1])
store = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
print(*(store.reserve(ME, 1) for _ in range(40)))
database.close()
"""


def begun(program: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)


def test_no_acknowledged_memory_is_lost_to_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "palimpsest.db"
    acknowledged: list[int] = []
    for _ in range(2):
        with begun(WRITER, path) as process:
            assert process.stdout is not None
            acknowledged += [int(process.stdout.readline()) for _ in range(30)]
            process.kill()
            acknowledged += [int(line) for line in process.stdout.read().splitlines()]
    assert len(set(acknowledged)) == len(acknowledged)
    database = Database(path)
    store = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
    found = store.get_many(ME, acknowledged)
    assert found.keys() == set(acknowledged)
    assert all(store.change(ME, str(number), 1) is not None for number in found)
    waiting = {int(record.id) for record in Outbox(database, clock=lambda: datetime.now(UTC)).pending(10_000)}
    assert waiting >= set(acknowledged)
    with database.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    database.close()


def test_two_programs_never_get_the_same_number(tmp_path: Path) -> None:
    running = [begun(RESERVER, tmp_path / "palimpsest.db") for _ in range(2)]
    numbers = [int(word) for process in running for word in process.communicate(timeout=60)[0].split()]
    assert sorted(numbers) == list(range(1, 81))


def test_a_loss_of_power_gives_no_number_of_an_acknowledged_memory_again(tmp_path: Path) -> None:
    """Reserving is not flushed, but the log is read in order: whoever has a memory has its number, too."""
    path, copy = tmp_path / "palimpsest.db", tmp_path / "copy.db"
    log = path.with_name(f"{path.name}-wal")
    database = Database(path)
    store = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
    for _ in range(3):
        add(store, store.reserve(ME, 1))
    flushed = log.stat().st_size
    assert store.reserve(ME, 5) == 4
    assert log.stat().st_size > flushed
    copy.write_bytes(path.read_bytes())
    copy.with_name(f"{copy.name}-wal").write_bytes(log.read_bytes()[:flushed])
    database.close()
    after = Database(copy)
    again = SqliteMemoryStore(after, clock=lambda: datetime.now(UTC))
    assert sorted(again.get_many(ME, range(1, 9))) == [1, 2, 3]
    assert again.reserve(ME, 1) == 4
    after.close()
