"""How the model says that something is not to happen."""


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """The answer has this status, and nothing changes."""

    @property
    def status(self) -> int:
        """As HTTP says it."""
        return int(self.args[0])


def same_status(told: int, refused: Refused, asked: object) -> None:
    """That the service refused as the model does."""
    assert told == refused.status, f"{told}, not {refused.status}: {asked}"


def refuse(status: int, when: object) -> None:
    """Raises Refused with `status` if `when`."""
    if when:
        raise Refused(status)
