"""`make prove` tells what was proved and what was not, and never makes a page of a part."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.prove import __main__ as prove
from tests.prove.proofs import PROOFS, Proof


def proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Proof:
    """A proof whose command is this script."""
    (tmp_path / "scripted_proof.py").write_text(script)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Proof("X1", "a promise", ("scripted_proof",), lines=("X1", "X2"))


def test_its_lines_of_result_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "print('so far'); print('X1 a promise: 5 tries, found 0, seed 1'); print('X2 another: 3, found 0, seed 1')"
    outcome = prove.run(proof(tmp_path, monkeypatch, said))
    assert outcome.held
    assert outcome.lines == ("X1 a promise: 5 tries, found 0, seed 1", "X2 another: 3, found 0, seed 1")


@pytest.mark.parametrize(
    "script",
    [
        "print('X1 a promise: 5 tries, found 1, seed 1'); raise SystemExit(1)",
        "print('it said nothing of a promise')",
        "print('X1 a promise: 5 tries, found 0, seed 1'); import os; os.kill(os.getpid(), 9)",
    ],
)
def test_what_fails_says_nothing_or_is_killed_did_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    assert not prove.run(proof(tmp_path, monkeypatch, script)).held


def test_one_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "PROOF_S", 0.5)
    assert not prove.run(proof(tmp_path, monkeypatch, "import time; time.sleep(60)")).held


def test_the_page_says_what_did_not_hold() -> None:
    good = prove.Outcome(PROOFS[0], True, ("R1 found 0",), 61.4)
    bad = prove.Outcome(PROOFS[1], False, (), 2)
    page = prove.page([good, bad], "abc123", datetime(2026, 5, 4, tzinfo=UTC), 1.0)
    assert "| R1 found 0 | yes |" in page
    assert "| did not come to its end | **no** |" in page
    assert "abc123" in page


def test_a_name_that_is_none_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["R99"]) == 2
    assert "R99" in capsys.readouterr().err


def test_a_part_writes_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = proof(tmp_path, monkeypatch, "print('X1 a promise: found 0')")
    monkeypatch.setattr(prove, "PROOFS", (one,))
    monkeypatch.setattr(prove, "PROJECT", tmp_path)
    monkeypatch.setattr(prove, "PAGE", tmp_path / "proofs.md")
    assert prove.main(["X1"]) == 0
    assert not prove.PAGE.exists()
    assert prove.main([]) == 0
    assert "X1 a promise: found 0" in prove.PAGE.read_text()
    capsys.readouterr()


def test_every_command_is_there() -> None:
    for one in PROOFS:
        module = Path(prove.PROJECT, *one.command[0].split("."))
        assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), one.name
