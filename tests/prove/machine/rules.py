"""The state machine: which acts there are, what is drawn for each, and that everything is looked at after each step."""

from contextlib import ExitStack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.prove.machine.engines import Open
from tests.prove.machine.looks import Looks
from tests.prove.machine.people import CALLERS, Caller
from tests.prove.machine.tally import Tally

WHO = st.sampled_from(["anna", "anna", "bert", "bert", "robot", "robot", "reader"])
WHERE = st.sampled_from(["own", "own", "own", "pool", "pool", "community"])
PICK = st.integers(0, 4_095)
SHAPE = st.integers(0, 2_559)
STALE = st.integers(0, 7)
"""Seven of eight times the version is right."""


class Machine(RuleBasedStateMachine):
    """Programs of everything that people, models and time do. A subclass names the engine."""

    open: Open
    tally: Tally
    looks = 2
    """From how many more sides it is looked at after each step."""
    last_look = 16
    """How many of each kind are looked at after the last step."""
    rebuilds = 1
    """One of so many rebuilds is done: where that takes long, fewer."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.turn = 0
        self.sound = False
        self.space = "anna"

    @initialize(embedded=st.booleans(), shapes=st.lists(SHAPE, min_size=3, max_size=3))
    def begin(self, embedded: bool, shapes: list[int]) -> None:
        """An installation with a little in each space."""
        world = self.stack.enter_context(type(self).open(embedded))
        self.program = Looks(world, self.tally, embedded)
        anna, bert = CALLERS["anna"], CALLERS["bert"]
        self.program.create_category(anna, "anna", 0, 3)
        self.program.create_category(anna, "anna", 1, 0)
        self.program.create_category(anna, "pool", 0, 2)
        for who, space in ((anna, "anna"), (bert, "bert"), (bert, "pool"), (anna, "community")):
            self.program.add_batch(who, space, shapes)

    def teardown(self) -> None:
        """A last look at everything, if nothing was wrong before."""
        try:
            if self.sound:
                self.program.look_everywhere(self.last_look)
                self.tally.ended(self.turn)
        finally:
            self.stack.close()

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        """What was touched, and something else."""
        if self.turn:
            self.program.look(self.space, self.turn, self.looks)
        self.sound = True

    def _step(self) -> Looks:
        self.sound = False
        self.turn += 1
        return self.program

    def _by(self, who: str, place: str) -> tuple[Caller, str]:
        """The caller, and the space that it means by `place`."""
        caller = CALLERS[who]
        self.space = caller.account if place == "own" else place
        return caller, self.space

    # ------------------------------------------------------------------ memories

    @rule(who=WHO, place=WHERE, shape=SHAPE)
    def add(self, who: str, place: str, shape: int) -> None:
        self._step().add(*self._by(who, place), shape)

    @rule(who=WHO, place=WHERE, shapes=st.lists(SHAPE, min_size=1, max_size=3))
    def add_batch(self, who: str, place: str, shapes: list[int]) -> None:
        self._step().add_batch(*self._by(who, place), shapes)

    @rule(who=WHO, place=WHERE, pick=PICK, shape=SHAPE, stale=STALE)
    def edit(self, who: str, place: str, pick: int, shape: int, stale: int) -> None:
        self._step().edit(*self._by(who, place), pick, shape, stale)

    @rule(who=WHO, place=WHERE, op=st.sampled_from(["trash", "restore"]), pick=PICK, stale=STALE)
    def trash_or_restore(self, who: str, place: str, op: str, pick: int, stale: int) -> None:
        self._step().move(*self._by(who, place), op, pick, stale)

    @rule(who=WHO, place=WHERE, pick=PICK, other=PICK, stale=STALE)
    def retire(self, who: str, place: str, pick: int, other: int, stale: int) -> None:
        self._step().retire(*self._by(who, place), pick, other, stale)

    @rule(who=WHO, place=WHERE, pick=PICK, stale=STALE)
    def erase(self, who: str, place: str, pick: int, stale: int) -> None:
        self._step().move(*self._by(who, place), "erase", pick, stale)

    @rule(
        who=WHO,
        place=WHERE,
        op=st.sampled_from(["categorise", "categorise", "trash", "restore", "retire", "erase"]),
        picks=st.lists(PICK, min_size=1, max_size=3),
        shape=SHAPE,
    )
    def bulk(self, who: str, place: str, op: str, picks: list[int], shape: int) -> None:
        self._step().bulk(*self._by(who, place), op, picks, shape)

    @rule(who=WHO, place=WHERE, picks=st.lists(PICK, min_size=2, max_size=3), stale=STALE)
    def merge(self, who: str, place: str, picks: list[int], stale: int) -> None:
        self._step().merge(*self._by(who, place), picks, stale)

    @rule(who=WHO, place=WHERE, pick=PICK)
    def undo(self, who: str, place: str, pick: int) -> None:
        self._step().undo(*self._by(who, place), pick)

    # ------------------------------------------------------------------ categories and people

    @rule(who=WHO, place=WHERE, name=st.integers(0, 3), shape=st.integers(0, 63))
    def create_category(self, who: str, place: str, name: int, shape: int) -> None:
        self._step().create_category(*self._by(who, place), name, shape)

    @rule(who=WHO, place=WHERE, pick=PICK, shape=st.integers(0, 63), stale=STALE)
    def edit_category(self, who: str, place: str, pick: int, shape: int, stale: int) -> None:
        self._step().edit_category(*self._by(who, place), pick, shape, stale)

    @rule(who=WHO, place=WHERE, pick=PICK)
    def delete_category(self, who: str, place: str, pick: int) -> None:
        self._step().delete_category(*self._by(who, place), pick)

    @rule(who=WHO, place=WHERE, pick=PICK)
    def undo_category(self, who: str, place: str, pick: int) -> None:
        self._step().undo_category(*self._by(who, place), pick)

    @rule(what=st.sampled_from(["member bert", "member anna", "team bert", "team anna", "pool"]))
    def change_membership(self, what: str) -> None:
        self.space = "community" if what.startswith("team") else "pool"
        self._step().membership(what)

    # ------------------------------------------------------------------ finding, time, repeats

    @rule(who=WHO, place=WHERE, pick=PICK, how=STALE)
    def search(self, who: str, place: str, pick: int, how: int) -> None:
        self._step().search(*self._by(who, place), pick, how)

    @rule(who=WHO, place=WHERE, pick=PICK, how=STALE)
    def recall(self, who: str, place: str, pick: int, how: int) -> None:
        self._step().recall(*self._by(who, place), pick, how)

    @rule(days=st.sampled_from([0.1, 1, 9, 20, 60]))
    def pass_time(self, days: float) -> None:
        self._step().pass_time(days)

    @rule()
    def clean_up(self) -> None:
        self._step().clean_up()

    @rule(pick=PICK, other_body=st.sampled_from([False, False, False, True]))
    def repeat(self, pick: int, other_body: bool) -> None:
        self._step().repeat(pick, other_body)

    # ------------------------------------------------------------------ the index

    @rule()
    def projector_stops_or_runs(self) -> None:
        program = self._step()
        program.running = not program.running
        program.follow()

    @precondition(lambda self: not self.program.running)
    @rule(pick=PICK)
    def project_some(self, pick: int) -> None:
        self._step().project_some(pick)

    @rule(who=WHO, place=WHERE)
    def reindex(self, who: str, place: str) -> None:
        self._step().reindex(*self._by(who, place))

    @rule()
    def reconcile(self) -> None:
        self._step().reconcile()

    @rule(pick=PICK)
    def rebuild(self, pick: int) -> None:
        program = self._step()
        if pick % self.rebuilds == 0:
            program.rebuild()
