"""What one part of the proof did and found, and the line it prints."""

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """`line` begins with the promise's name and says what was done, in figures; `found` each thing that should not be; `missed` what was asked for and
    did not happen, without which the rest shows nothing."""

    name: str
    line: str = ""
    found: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether the promise held, and was really tried."""
        return not self.found and not self.missed

    def joined(self, other: "Outcome") -> "Outcome":
        """Both as one."""
        return Outcome(
            f"{self.name}, {other.name}",
            f"{self.line}, {other.line}",
            self.found + other.found,
            self.missed + other.missed,
        )

    def needs(self, holds: bool, what: str) -> None:
        """Note what did not happen."""
        if not holds:
            self.missed.append(what)
