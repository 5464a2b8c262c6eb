"""What a bench prints: one line a figure (name, value, bar, whether it holds), tables, and all of it as JSON."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured value, with the bar it was asked to hold, if any."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def held(self) -> bool:
        """Whether it is within its bars."""
        return not (
            (self.at_most is not None and self.value > self.at_most)
            or (self.at_least is not None and self.value < self.at_least)
        )

    @property
    def line(self) -> str:
        """`name  value unit  bar  ok`."""
        bars = [
            f"{sign} {_number(bar)}"
            for sign, bar in (("<=", self.at_most), (">=", self.at_least))
            if bar is not None
        ]
        verdict = ("ok" if self.held else "NOT OK") if bars else ""
        value = f"{_number(self.value)} {self.unit}".strip()
        return f"{self.name:<56} {value:>16}  {' and '.join(bars):<14} {verdict}".rstrip()


@dataclass
class Report:
    """Collects figures and prints each at once."""

    figures: list[Figure] = field(default_factory=list)
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "",
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> float:
        """Note and print one figure; gives its value back."""
        figure = Figure(name, value, unit, at_most, at_least)
        self.figures.append(figure)
        print(figure.line, flush=True)
        return value

    def say(self, text: str) -> None:
        """Print a line that is no figure."""
        print(text, flush=True)

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Note and print a table: the first column to the left, the others to the right."""
        self.tables[title] = [dict(zip(header, row, strict=True)) for row in rows]
        widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
        print(f"\n{title}")
        for row in [header, *rows]:
            cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            print("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
        print(flush=True)

    def end(self, asked: argparse.Namespace) -> int:
        """Write `--json`, if asked for; the exit code: 1 when `--check` was asked for and a bar is missed."""
        missed = [figure for figure in self.figures if not figure.held]
        if asked.json is not None:
            machine = {
                "processors": os.cpu_count(),
                "python": platform.python_version(),
                "system": sys.platform,
            }
            whole = {
                "machine": machine,
                "figures": [asdict(figure) | {"held": figure.held} for figure in self.figures],
                "tables": self.tables,
            }
            asked.json.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if missed:
            print(f"{len(missed)} bars missed: {', '.join(figure.name for figure in missed)}", flush=True)
        return 1 if missed and asked.check else 0


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """The arguments that every bench takes."""
    arguments = argparse.ArgumentParser(prog=f"python -m tests.bench {name}", description=description)
    arguments.add_argument("--json", type=Path, help="write all figures to this file")
    arguments.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    return arguments


def _number(value: float) -> str:
    if value == int(value) and abs(value) >= 100:
        return f"{int(value):,}"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1 or value == 0 else f"{value:.4f}"
