"""What a person sees at a terminal: no text steers it, and no column is lost, however narrow it is."""

import io

import pytest
from rich.console import Console

from infra.cli import printing


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("a\x9b2Jb", "a\ufffd2Jb"),
        ("a\u202eb\u2066c\ufeff", "a\ufffdb\ufffdc\ufffd"),
        ("a\rb\x00\x7f", "a\ufffdb\ufffd\ufffd"),
        ("a\r\nb\tc", "a\nb c"),
        ("\ud800", "\ufffd"),
        (
            "Příliš žluťoučký 🦊 नमस्ते می\u200cخواهم 👩\u200d🚀",
            "Příliš žluťoučký 🦊 नमस्ते می\u200cخواهم 👩\u200d🚀",
        ),
    ],
)
def test_no_text_steers_the_terminal_and_all_alphabets_stay(text: str, shown: str) -> None:
    assert printing.plain(text) == shown


def test_in_json_the_same_is_written_as_escapes() -> None:
    assert printing.as_json('{"text": "\x9b2J\u202ežluť"}') == '{"text": "\\u009b2J\\u202ežluť"}'


@pytest.mark.parametrize("width", [20, 44, 80, 200])
def test_in_a_narrow_terminal_every_column_is_there(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(
        printing, "Console", lambda **how: Console(file=out, force_terminal=True, width=width, **how)
    )
    printing.table(["number", "text", "state"], [["#1", "[b]word[/b] " * 30, "retired (by #7)"]], grows=1)
    shown = out.getvalue()
    assert shown.count("[b]word[/b]") == 30
    assert "#1" in shown
    assert "retired" in shown


def test_without_a_terminal_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    printing.table(["number", "text"], [["#1", "word " * 100]], grows=1)
    assert "word " * 99 in capsys.readouterr().out
