"""What a person is told before anything is changed."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from infra.aws import __main__ as command
from infra.aws import preflight, shell
from infra.aws.clouds import Cloud
from infra.aws.preflight import NotReadyError, Ready, look


class Account:
    """An account as the preflight looks at it."""

    def __init__(
        self, *, region: str | None = "eu-central-1", signed_in: bool = True, says: Exception | None = None
    ) -> None:
        self.region = region
        self._signed_in = signed_in
        self._says = says

    def has_credentials(self) -> bool:
        return self._signed_in

    def account(self) -> str:
        if self._says is not None:
            raise self._says
        return "123456789012"


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Node.js and the cdk command are there."""
    cdk = tmp_path / "cdk"
    cdk.touch()
    monkeypatch.setattr(preflight, "CDK", cdk)
    monkeypatch.setattr(shell, "node_folder", lambda: tmp_path)
    return cdk


def told(account: Account, **environ: str) -> list[str]:
    """The lines of what is missing."""
    with pytest.raises(NotReadyError) as missing:
        look(environ, lambda: cast(Cloud, account))
    return str(missing.value).splitlines()


def refusal(code: str) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "arn:aws:iam::1:user/a secret"}}, "GetCallerIdentity"
    )


def test_with_all_of_it_nothing_is_said() -> None:
    ready = look({}, lambda: cast(Cloud, Account()))
    assert ready.wanted.name == "palimpsest"


def test_the_cdk_command_is_missing(tools: Path) -> None:
    tools.unlink()
    assert told(Account()) == ["Node.js and the cdk command are not installed: run `make setup-deploy`."]


def test_node_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "node_folder", lambda: None)
    assert told(Account()) == ["Node.js and the cdk command are not installed: run `make setup-deploy`."]


def test_the_region_alone_is_missing() -> None:
    [line] = told(Account(region=None))
    assert line.startswith("No AWS region is set: export AWS_REGION")


def test_credentials_alone_are_missing() -> None:
    [line] = told(Account(signed_in=False))
    assert line.startswith("No AWS credentials are set: run `aws configure`")


@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidClientTokenId"])
def test_credentials_are_refused(code: str) -> None:
    """In our words: what AWS says names people."""
    [line] = told(Account(says=refusal(code)))
    assert (
        line == f"AWS refuses these credentials ({code}): sign in again, or choose others with AWS_PROFILE."
    )


def test_nobody_answers() -> None:
    [line] = told(Account(says=EndpointConnectionError(endpoint_url="https://sts")))
    assert line.startswith("AWS does not answer (EndpointConnectionError)")


def test_all_that_is_missing_is_said_at_once(tools: Path) -> None:
    tools.unlink()
    lines = told(Account(region=None, signed_in=False), PALIMPSEST_EMBEDDER="openai")
    assert [line.split()[0] for line in lines[:3]] == ["Node.js", "No", "No"]
    assert any("EMBEDDING" in line for line in lines[3:])


NO_NODE = "Node.js and the cdk command are not installed"
REFUSED = "AWS refuses these credentials (ExpiredToken)"
NO_REGION = "No AWS region is set"


@pytest.mark.parametrize("asked", ["deploy", "diff", "destroy"])
@pytest.mark.parametrize("missing", [NO_NODE, REFUSED, NO_REGION])
def test_a_command_ends_before_it_changes_anything(
    asked: str,
    missing: str,
    tools: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An account that is asked for more than the preflight asks, a command that is run, and a folder that is made fail here."""
    if missing == NO_NODE:
        tools.unlink()
    account = Account(
        region=None if missing == NO_REGION else "eu-central-1",
        says=refusal("ExpiredToken") if missing == REFUSED else None,
    )

    def looked(environ: Mapping[str, str]) -> Ready:
        return look(environ, lambda: cast(Cloud, account))

    def ran(*words: Any, **_: Any) -> None:
        pytest.fail(f"it ran {words}")

    monkeypatch.setattr(command, "look", looked)
    monkeypatch.setattr(command, "WORK", tmp_path / "work")
    monkeypatch.setattr(shell, "environment", dict)
    monkeypatch.setattr(subprocess, "run", ran)
    assert command.main([asked]) == 2
    said = capsys.readouterr()
    first, line = said.err.splitlines()
    assert first == "Nothing was changed. Before this can work:"
    assert line.startswith(f"  {missing}")
    assert said.out == ""
    assert not (tmp_path / "work").exists()
