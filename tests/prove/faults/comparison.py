"""What was acknowledged of one space, compared with its table, history, index, list and jobs, when all is quiet."""

from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import IndexedState, content_hash
from tests.prove.faults.book import MARK, Book

PAGE = 500


class Comparison:
    """Every difference is a finding."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._stage = book.stage
        self._findings = book.findings

    def compare(self) -> None:
        """Table, history, index and list with what was acknowledged, when all is quiet."""
        table = {memory.number: memory for memory in self._stage.memories(self._book.space)}
        self._compare_table(table)
        self._compare_history(table)
        self._compare_index(table)
        self._compare_list(table)
        self._compare_jobs()

    def _compare_table(self, table: dict[int, Memory]) -> None:
        known = {mark for told in self._book.told.values() for mark in told.marks}
        for number, told in self._book.told.items():
            stored = table.get(number)
            if stored is None or stored.version < told.version:
                self._findings.lost.append(f"{self._book.path}: #{number} version {told.version}")
            elif stored.version > told.version:
                self._findings.doubled.append(
                    f"{self._book.path}: #{number} is at {stored.version}, not {told.version}"
                )
            elif content_hash(stored) != content_hash(told.memory):
                self._findings.lost.append(
                    f"{self._book.path}: #{number} version {told.version} has another content"
                )
        for number in table.keys() - self._book.told.keys():
            again = set(MARK.findall(table[number].text)) & known
            (self._findings.doubled if again else self._findings.phantom).append(
                f"{self._book.path}: #{number}"
            )

    def _compare_history(self, table: dict[int, Memory]) -> None:
        store, scope = self._stage.truth.memories, self._stage.scope(self._book.space)
        for number, memory in table.items():
            changes = store.history(scope, str(number), after=None, limit=PAGE)
            ops = {change.version: change.op for change in changes}
            if sorted(ops) != list(range(1, memory.version + 1)) or len(changes) != len(ops):
                self._findings.lost.append(f"{self._book.path}: #{number} has the history {sorted(ops)}")
            told = self._book.told.get(number)
            wrong = (
                {version: op for version, op in told.ops.items() if ops.get(version) != op} if told else {}
            )
            if wrong:
                self._findings.doubled.append(
                    f"{self._book.path}: #{number} was told {wrong}, and its history has {ops}"
                )

    def _compare_index(self, table: dict[int, Memory]) -> None:
        indexed = self._indexed()
        for number, memory in table.items():
            state = indexed.pop(number, None)
            gone = memory.state is State.ERASED
            due = (memory.revision, "" if gone else content_hash(memory))
            if (state is None and not gone) or (
                state is not None and (state.revision, state.content_hash) != due
            ):
                self._findings.lost.append(
                    f"{self._book.path}: the index has #{number} as {state}, not as {due}"
                )
        self._findings.phantom += [
            f"{self._book.path}: the index has #{number}, and the table has not"
            for number, state in indexed.items()
            if state.content_hash
        ]
        self._compare_vectors()

    def _compare_vectors(self) -> None:
        """Only vectors may be left to the reconciler, which is part of the quiet: what was projected while another
        model was in use has none of this one. Then nothing may be."""
        reconciler = self._stage.world.services.reconciler
        first, second = (reconciler.compare(self._book.space) for _ in range(2))
        if first.count > len(first.unembedded) or second.count:
            self._findings.lost.append(
                f"{self._book.path}: the reconciler had to repair {first}, then {second}"
            )

    def _indexed(self) -> dict[int, IndexedState]:
        states: dict[int, IndexedState] = {}
        after = 0
        while page := self._stage.truth.index.indexed(
            self._stage.scope(self._book.space), after=after, limit=PAGE
        ):
            states |= {state.number: state for state in page}
            after = page[-1].number
        return states

    def _compare_list(self, table: dict[int, Memory]) -> None:
        listed: dict[int, int] = {}
        following = ""
        while True:
            reply, _ = self._book.customer.ask(
                "GET", f"{self._book.path}/memories?state=all&limit=200{following}", faults=0
            )
            assert reply is not None
            answer = reply.json
            if reply.status != 200 or answer["degraded"]:
                self._findings.wrong.append(
                    f"{self._book.path}: the list, when all is quiet: {reply.text[:200]}"
                )
                return
            for one in answer["items"]:
                (self._findings.doubled if one["number"] in listed else []).append(
                    f"listed twice: #{one['number']}"
                )
                listed[one["number"]] = one["version"]
            if not answer["next"]:
                break
            following = f"&cursor={answer['next']}"
        due = {number: m.version for number, m in table.items() if m.state is not State.ERASED}
        if listed != due:
            differing = sorted(listed.items() ^ due.items())
            self._findings.lost.append(f"{self._book.path}: listed and stored differ in {differing[:10]}")

    def _compare_jobs(self) -> None:
        now = self._book.jobs_now()
        self._findings.lost += [
            f"{self._book.path}: {job} is not there" for job in self._book.jobs - now.keys()
        ]
        self._findings.lost += [
            f"{self._book.path}: {job} is {state} for ever"
            for job, state in now.items()
            if state not in ("done", "failed")
        ]
