"""Taking away what an erased memory leaves behind: images in its changes, and its vectors (M13).

The transaction of the erase marks the memory, and from then on nobody is shown what was before. The rest follows, item
by item; the mark stays until that is finished, so a later pass can finish what was interrupted.
"""

from pynamodb.expressions.operand import Path

from chalicelib.domain.scope import Scope
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.commits import PRESENT
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.keys import in_space, partition
from chalicelib.stores.dynamodb.tables import IMAGE, IMAGE_TEXT, MEMORY, PK, SK, STRIP_PENDING
from chalicelib.stores.dynamodb.transactions import Update
from chalicelib.stores.dynamodb.values import get_text
from chalicelib.stores.dynamodb.vectors import Vectors


class Erasure:
    """Finishes what commits with `strip` began."""

    def __init__(self, database: Database, vectors: Vectors) -> None:
        self._database = database
        self._vectors = vectors

    def finish(self, scope: Scope, number: int) -> bool:
        """Strip a memory that is marked for it; safe to repeat. False when it is not marked: nothing is done then."""
        key = in_space(scope, keys.memory(number))
        item = self._database.get(key, attributes=[STRIP_PENDING])
        if item is None or STRIP_PENDING not in item:
            return False
        self._strip_changes(scope, number)
        self._vectors.delete_all(scope, number)
        self._database.update(Update(key=key, removes=(STRIP_PENDING,), condition=PRESENT))
        return True

    def _strip_changes(self, scope: Scope, number: int) -> None:
        changes = self._database.query(
            MEMORY,
            partition(scope),
            Path([SK]).startswith(f"change#m#{keys.padded(number)}#"),
            filtered=Path([IMAGE]).exists(),
            attributes=[PK, SK],
        )
        for change in changes:
            key = in_space(scope, get_text(change, SK))
            self._database.update(Update(key=key, removes=(IMAGE, IMAGE_TEXT), condition=PRESENT))
