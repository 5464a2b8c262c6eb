"""`make deploy`, `make diff`, `make destroy`.

    python -m infra.aws deploy  [--unset NAME,NAME]
    python -m infra.aws deploy  --new-key
    python -m infra.aws diff
    python -m infra.aws destroy [--data --erase-everything-of NAME@ACCOUNT]

What is missing is said before anything is changed. Exit codes: 0 done, 1 something failed, 2 something is missing.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import StoreError
from chalicelib.settings import PREFIX
from infra.aws import shell
from infra.aws.clouds import Cloud
from infra.aws.deployment import STATED_HERE, Deployment
from infra.aws.package import PROJECT, PackageError, make_package
from infra.aws.preflight import CDK, NotReadyError, Ready, look
from infra.aws.running import another_key, first_key, not_working

WORK = PROJECT / ".deploy"
CACHE = WORK / "cache"
PACKAGE = WORK / "package"
STACKS = WORK / "stacks"
AS_DESCRIBED = ("--app", str(STACKS), "--exclusively")
ERASED = (
    "AWS::SQS::Queue",
    "AWS::S3::Bucket",
    "AWS::OpenSearchService::Domain",
    "AWS::SecretsManager::Secret",
    "AWS::DynamoDB::Table",
    "AWS::KMS::Key",
)
"""What a deleted stack leaves, in the order in which it is deleted: last the memories, and the key that reads them."""
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
    WORK.mkdir(exist_ok=True)
    try:
        asked.do(ready, asked)
    except KeyboardInterrupt:
        print("\nInterrupted. What was changed is said above; the same command goes on.", file=sys.stderr)
        return 130
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
    if asked.new_key:
        _another_key(ready)
        return
    cloud, wanted = ready.cloud, _with_what_is_there(ready)
    _say(f"{wanted.name} in {cloud.region}, account {cloud.account()}")
    if taken_back := _taken_back(ready, set(asked.unset.split(","))):
        raise FailedError(
            f"Nothing was changed. Set in what is deployed, and not in this shell: {', '.join(taken_back)}. Every call "
            f"needs all settings: set them, or take them back with ARGS='--unset {','.join(taken_back)}'"
        )
    _pack(wanted)
    _describe(wanted)
    if not cloud.bootstrapped():
        _say("Preparing this account and region for the CDK (once) ...")
        _cdk("bootstrap", f"aws://{cloud.account()}/{cloud.region}")
    _say(f"Deploying {wanted.name}-data: what is kept ...")
    _cdk("deploy", f"{wanted.name}-data", *AS_DESCRIBED, "--require-approval", "never")
    if wanted.secrets:
        held = {name: shell.environment()[f"{PREFIX}{name.upper()}"].strip() for name in wanted.secrets}
        version = cloud.keep_secret(cloud.outputs(f"{wanted.name}-data")["SecretArn"], held)
        _describe(wanted.model_copy(update={"secret_version": version}))
    _say(f"Deploying {wanted.name}-service: what serves ...")
    _cdk("deploy", f"{wanted.name}-service", *AS_DESCRIBED, "--require-approval", "never")
    outputs = cloud.outputs(f"{wanted.name}-service")
    _say("Looking whether the search index is there ...")
    if (error := cloud.invoke(outputs["ReconcileFunction"], {})) is not None:
        raise FailedError(
            f"The reconciler failed ({error}): its log says why. The service runs; `make deploy` can be repeated."
        )
    key = first_key(wanted, str(cloud.region))
    url = _reachable(outputs)
    _say(f"\n{wanted.name} runs: {url}")
    if wanted.keeps_domain:
        _say(
            "The OpenSearch domain of before is not used now, and still paid for; it stays until what is kept is deleted."
        )
    if key is not None:
        _say(f"API key of the first admin, shown only now: {key}")
    _say(f"Sign in with {'it' if key else 'the key you have'}: .venv/bin/palimpsest login --url {url}")
    if (down := not_working(url)) is not None:
        raise FailedError(f"It is deployed, and does not work whole: {down}. `palimpsest doctor` says more.")


def _another_key(ready: Ready) -> None:
    """Print another key of the first admin; nothing else is changed."""
    if not ready.cloud.outputs(f"{ready.wanted.name}-service"):
        raise FailedError(f"Nothing was changed: {ready.wanted.name} is not deployed here.")
    key = another_key(ready.wanted, str(ready.cloud.region))
    _say(f"Another API key of the first admin, shown only now: {key}")
    _say("The lost one stays valid until it is deleted (DELETE /v1/keys).")


def _taken_back(ready: Ready, agreed: set[str]) -> list[str]:
    """Settings that are deployed and no longer stated, but for those whose end was `agreed`."""
    before = ready.cloud.metadata(f"{ready.wanted.name}-service").get(STATED_HERE, [])
    return sorted(set(before) - set(ready.wanted.stated) - agreed)


def diff(ready: Ready, _asked: argparse.Namespace) -> None:
    """Show what a deployment would change."""
    wanted = _with_what_is_there(ready)
    if taken_back := _taken_back(ready, set()):
        _say(f"Set in what is deployed, and not in this shell: {', '.join(taken_back)}.")
    _pack(wanted)
    _describe(wanted)
    _cdk("diff", "--app", str(STACKS), "--no-change-set")


def destroy(ready: Ready, asked: argparse.Namespace) -> None:
    """Delete what serves; what is kept only when told so twice."""
    cloud, wanted = ready.cloud, _with_what_is_there(ready)
    name, account = wanted.name, cloud.account()
    _say(f"{name} in {cloud.region}, account {account}")
    if asked.erase_everything_of and not asked.data:
        raise FailedError("Nothing was changed. --erase-everything-of goes with --data.")
    if asked.data and asked.erase_everything_of != f"{name}@{account}":
        raise FailedError(
            f"Nothing was changed. --data deletes every memory of {name} in account {account} for good: say so again with "
            f"--erase-everything-of {name}@{account}"
        )
    make_package(PACKAGE, cache=None)  # a description is enough to delete
    _describe(wanted)
    _say(f"Deleting {name}-service ...")
    _cdk("destroy", f"{name}-service", *AS_DESCRIBED, "--force")
    if asked.data:
        _erase_everything(cloud, wanted)
    else:
        _say(f"{name}-data stays, with all memories: `make deploy` serves them again.")


def _erase_everything(cloud: Cloud, wanted: Deployment) -> None:
    """Delete the stack of what is kept, and then what it leaves. What that is, is written down before, so that it can be
    repeated after a failure. Raises FailedError when something is left."""
    name = wanted.name
    noted = WORK / f"left-of-{name}.json"
    if found := cloud.resources(f"{name}-data"):
        noted.write_text(json.dumps(found))
        cloud.unprotect(f"{name}-data")
        _say(f"Deleting {name}-data ...")
        _cdk("destroy", f"{name}-data", *AS_DESCRIBED, "--force")
    elif not noted.exists():
        _say(f"There is nothing of {name} to delete.")
        return
    left: dict[str, list[str]] = json.loads(noted.read_text())
    failed = False
    for kind in ERASED:
        for one in left.get(kind, ()):
            try:
                became = cloud.erase(kind, one)
            except ClientError as error:
                failed, became = True, f"NOT deleted ({error.response['Error']['Code']})"
            except BotoCoreError as error:
                failed, became = True, f"NOT deleted ({type(error).__name__})"
            _say(f"{kind.rsplit('::', maxsplit=1)[-1]} {one}: {became}")
    if failed:
        raise FailedError("Not all of it is deleted, as said above; the same command goes on with the rest.")
    noted.unlink(missing_ok=True)
    if not wanted.own_domain:
        prefix = wanted.environment["PALIMPSEST_OPENSEARCH_PREFIX"]
        _say(f"Your OpenSearch still holds its index: delete the indices whose names begin with {prefix}-")
    _say(
        "The role with which the gateway logs, and the CDK's own stack CDKToolkit, stay: others may use them."
    )


def _with_what_is_there(ready: Ready) -> Deployment:
    """What is wanted, with a domain that was made before, if there is one."""
    there = "AWS::OpenSearchService::Domain" in ready.cloud.resources(f"{ready.wanted.name}-data")
    return ready.wanted.model_copy(update={"keeps_domain": there and not ready.wanted.own_domain})


def _pack(wanted: Deployment) -> None:
    _say("Making the package ...")
    made = make_package(PACKAGE, cache=CACHE, bundled=wanted.bundles_model)
    _say(f"It has {made.megabytes():.0f} MB.")


def _describe(wanted: Deployment) -> None:
    (PACKAGE / "deployment.json").write_text(wanted.model_dump_json())
    _run([sys.executable, "-m", "infra.aws.app", str(PACKAGE), str(STACKS)], "describing the stacks")


def _reachable(outputs: Mapping[str, str]) -> str:
    """The URL of what was deployed, as AWS has it or an emulator."""
    emulator = shell.emulator_url()
    return f"{emulator}/restapis/{outputs['ApiId']}/api/_user_request_" if emulator else outputs["Url"]


def _cdk(*arguments: str) -> None:
    """Run the cdk command; what it says goes to the terminal."""
    _run([str(CDK), *arguments, "--ci"], f"cdk {arguments[0]}")


def _run(command: Sequence[str], what: str) -> None:
    """Run a command whose environment has no settings, and so no secrets. Raises FailedError."""
    done = subprocess.run(command, cwd=PROJECT, env=shell.without_settings(), timeout=LONGEST_S, check=False)
    if done.returncode:
        raise FailedError(f"{what} failed. What was changed is said above; it can be repeated.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra.aws", description="Deploy Palimpsest to AWS.")
    commands = parser.add_subparsers(required=True, metavar="deploy | diff | destroy")
    one = commands.add_parser("deploy", help="make or change the installation")
    one.add_argument(
        "--new-key", action="store_true", help="print another key of the first admin, and change nothing"
    )
    one.add_argument("--unset", default="", metavar="NAME,NAME", help="settings that are taken back")
    one.set_defaults(do=deploy)
    one = commands.add_parser("diff", help="show what deploying would change")
    one.set_defaults(do=diff)
    one = commands.add_parser("destroy", help="delete what serves; what is kept stays")
    one.add_argument("--data", action="store_true", help="delete what is kept, too")
    one.add_argument(
        "--erase-everything-of", metavar="NAME@ACCOUNT", help="say once more what is to be deleted"
    )
    one.set_defaults(do=destroy)
    return parser


def _say(line: str) -> None:
    print(line, flush=True)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
