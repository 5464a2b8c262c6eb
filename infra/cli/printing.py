"""What a person sees: tables, plain lines, progress. What a memory says is data: it cannot steer the terminal.

Answers go to standard output, everything else to standard error.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control characters, marks that change the direction of writing, lone surrogates."""
_JOINERS = {"\u200c", "\u200d"}
"""Joiners that Persian, Hindi and emoji need; they move nothing."""


GROWS_FROM = 20
"""Letters in a line of the column that grows, however narrow the terminal is."""


WIDTH_FROM = 80
"""A terminal that is narrower wraps the lines: no column is left out."""


def plain(text: object, *, lines: bool = True) -> str:
    """`text` without what could steer a terminal. `lines`: line breaks and tabs stay, otherwise they become blanks."""
    return "".join(_seen(character, lines=lines) for character in str(text).replace("\r\n", "\n"))


def _seen(character: str, *, lines: bool) -> str:
    if character in "\n\t":
        return character if lines and character == "\n" else " "
    if unicodedata.category(character) in _UNSEEN and character not in _JOINERS:
        return "\ufffd"
    return character


def as_json(text: str) -> str:
    """JSON text with the same values, in which every character that could steer a terminal is written as an escape."""
    return "".join(
        f"\\u{ord(character):04x}"
        if ord(character) > 0x7E
        and unicodedata.category(character) in _UNSEEN - {"Cn", "Co"}
        and ord(character) < 0x10000
        else character
        for character in text
    )


def print_json(text: str) -> None:
    """The service's answer as it came, on standard output; as escapes where that takes no letters beyond ASCII."""
    told = as_json(text.rstrip("\n"))
    try:
        told.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        told = "".join(letter if letter.isascii() else json.dumps(letter)[1:-1] for letter in told)
    typer.echo(told)


def say(text: str) -> None:
    """One line for the person, on standard error."""
    typer.echo(plain(text), err=True)


@contextmanager
def said_after() -> Iterator[list[str]]:
    """Lines that are said when the block ends, however it ends: a bar that is drawn meanwhile is not broken by them."""
    lines: list[str] = []
    try:
        yield lines
    finally:
        for line in lines:
            say(line)


def show(line: str) -> None:
    """One line of the answer, on standard output."""
    typer.echo(plain(line))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, grows: int | None = None) -> None:
    """A table on standard output; None is an empty cell, and everything is data. `grows`: the column whose text is
    wrapped to what is left of the line; where too little is, the others are wrapped as well. Without a terminal the lines are as long as they need to be."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    console.width = max(console.width, WIDTH_FROM) if console.is_terminal else 10_000
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        made.add_column(name, overflow="fold", min_width=GROWS_FROM if number == grows else None)
    for row in rows:
        made.add_row(*(Text("" if cell is None else plain(cell)) for cell in row))
    console.print(made)


def progress(what: str, total: int | None) -> Progress:
    """A bar on standard error while many things are done; nothing where nobody looks. Use it as a context, and
    `advance(progress.task_ids[0], n)`."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    bar.add_task(plain(what, lines=False), total=total)
    return bar
