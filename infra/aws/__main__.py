"""`make deploy`, `make diff`, `make destroy`.

    python -m infra.aws deploy  [--new-key]
    python -m infra.aws diff
    python -m infra.aws destroy [--data --erase-everything-of NAME]

What is missing is said before anything is changed. Exit codes: 0 done, 1 something failed, 2 something is missing.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import StoreError
from chalicelib.settings import PREFIX
from infra.aws import shell
from infra.aws.package import PROJECT, PackageError, make_package
from infra.aws.preflight import CDK, NotReadyError, Ready, look
from infra.aws.running import first_key

WORK = PROJECT / ".deploy"
CACHE = WORK / "cache"
PACKAGE = WORK / "package"
STACKS = WORK / "stacks"
AS_SYNTHESIZED = ("--app", str(STACKS), "--exclusively")
LONGEST_S = 3 * 3600
"""For one command; making an OpenSearch domain may take an hour."""


class FailedError(Exception):
    """A step failed; the message says which."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        ready = look(shell.environment())
    except NotReadyError as error:
        print(f"Nothing was changed. Before this can work:\n{_indented(str(error))}", file=sys.stderr)
        return 2
    try:
        asked.do(ready, asked)
    except (FailedError, PackageError, StoreError) as error:
        print(f"{error}", file=sys.stderr)
        return 1
    except ClientError as error:
        print(f"AWS refused {error.operation_name}: {error.response['Error']['Code']}", file=sys.stderr)
        return 1
    except BotoCoreError as error:
        print(f"AWS does not answer: {type(error).__name__}", file=sys.stderr)
        return 1
    return 0


def deploy(ready: Ready, asked: argparse.Namespace) -> None:
    """Make or change both stacks, and say how to reach what runs."""
    wanted, cloud = ready.wanted, ready.cloud
    _pack(ready)
    if not cloud.bootstrapped():
        _say("Preparing this account and region for the CDK (once) ...")
        _cdk("bootstrap", f"aws://{cloud.account()}/{cloud.region}")
    _say(f"Deploying {wanted.name}-data: what is kept ...")
    _cdk("deploy", f"{wanted.name}-data", *AS_SYNTHESIZED, "--require-approval", "never")
    if wanted.secrets:
        held = {name: shell.environment()[f"{PREFIX}{name.upper()}"].strip() for name in wanted.secrets}
        cloud.keep_secret(cloud.outputs(f"{wanted.name}-data")["SecretArn"], held)
    _say(f"Deploying {wanted.name}-service: what serves ...")
    _cdk("deploy", f"{wanted.name}-service", *AS_SYNTHESIZED, "--require-approval", "never")
    outputs = cloud.outputs(f"{wanted.name}-service")
    _say("Looking whether the search index is there ...")
    if (error := cloud.invoke(outputs["ReconcileFunction"], {})) is not None:
        raise FailedError(
            f"The reconciler failed ({error}): its log says why. The service runs; `make deploy` can be repeated."
        )
    key = first_key(wanted, str(cloud.region), anew=asked.new_key)
    url = _reachable(outputs)
    _say(f"\n{wanted.name} runs: {url}/v1/health")
    if key is not None:
        _say(f"API key of the first admin, shown only now: {key}")
    _say(f"Sign in with it: .venv/bin/palimpsest login --url {url}")


def diff(ready: Ready, _asked: argparse.Namespace) -> None:
    """Show what a deployment would change."""
    _pack(ready)
    _cdk("diff", "--app", str(STACKS))


def destroy(ready: Ready, asked: argparse.Namespace) -> None:
    """Delete what serves; what is kept only when told so twice."""
    name, cloud = ready.wanted.name, ready.cloud
    with_data = asked.data
    if with_data and asked.erase_everything_of != name:
        raise FailedError(
            f"Nothing was changed. --data deletes every memory for good: say so again with --erase-everything-of {name}"
        )
    _pack(ready)
    _say(f"Deleting {name}-service ...")
    _cdk("destroy", f"{name}-service", *AS_SYNTHESIZED, "--force")
    if not with_data:
        _say(f"{name}-data stays, with all memories: `make deploy` serves them again.")
        return
    left = cloud.resources(f"{name}-data")
    cloud.unprotect(f"{name}-data", left.get("AWS::DynamoDB::Table", []))
    _say(f"Deleting {name}-data ...")
    _cdk("destroy", f"{name}-data", *AS_SYNTHESIZED, "--force")
    for line in cloud.erase(left):
        _say(line)


def _reachable(outputs: Mapping[str, str]) -> str:
    """The URL of what was deployed, as AWS has it or an emulator."""
    emulator = shell.emulator_url()
    return f"{emulator}/restapis/{outputs['ApiId']}/api/_user_request_" if emulator else outputs["Url"]


def _pack(ready: Ready) -> None:
    _say("Making the package ...")
    made = make_package(PACKAGE, cache=CACHE, bundled=ready.wanted.bundles_model)
    (PACKAGE / "deployment.json").write_text(ready.wanted.model_dump_json())
    _say(f"It has {made.megabytes():.0f} MB.")
    _run([sys.executable, "-m", "infra.aws.app", str(PACKAGE), str(STACKS)], "describing the stacks")


def _cdk(*arguments: str) -> None:
    """Run the cdk command; what it says goes to the terminal."""
    _run([str(CDK), *arguments, "--ci", "--progress", "events"], f"cdk {arguments[0]}")


def _run(command: Sequence[str], what: str) -> None:
    """Run a command whose environment has no settings, and so no secrets. Raises FailedError."""
    done = subprocess.run(command, cwd=PROJECT, env=shell.without_settings(), timeout=LONGEST_S, check=False)
    if done.returncode:
        raise FailedError(f"{what} failed. What was changed is said above; it can be repeated.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra.aws", description="Deploy Palimpsest to AWS.")
    commands = parser.add_subparsers(required=True, metavar="deploy | diff | destroy")
    one = commands.add_parser("deploy", help="make or change the installation")
    one.add_argument("--new-key", action="store_true", help="print another key of the first admin")
    one.set_defaults(do=deploy)
    one = commands.add_parser("diff", help="show what deploying would change")
    one.set_defaults(do=diff)
    one = commands.add_parser("destroy", help="delete what serves; what is kept stays")
    one.add_argument("--data", action="store_true", help="delete what is kept, too")
    one.add_argument(
        "--erase-everything-of", metavar="NAME", help="the installation's name: say it once more"
    )
    one.set_defaults(do=destroy)
    return parser


def _say(line: str) -> None:
    print(line, flush=True)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
