"""What must be there before anything is changed, said in plain words."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.settings import SettingsError
from infra.aws import shell
from infra.aws.clouds import Cloud
from infra.aws.deployment import Deployment
from infra.aws.wanted import wanted

CDK = Path(__file__).parent / "node_modules" / ".bin" / "cdk"


@dataclass(frozen=True, slots=True)
class Ready:
    """All that a deployment needs, found."""

    wanted: Deployment
    cloud: Cloud


class NotReadyError(Exception):
    """Something is missing; the message has a line for each thing, with what to do."""


def look(environ: Mapping[str, str], cloud: Callable[[], Cloud] = Cloud) -> Ready:
    """Look at everything, change nothing. Raises NotReadyError."""
    found = cloud()
    problems = [*_tools(), *_account(found)]
    try:
        deployment = wanted(environ)
    except SettingsError as error:
        raise NotReadyError("\n".join([*problems, *str(error).splitlines()])) from error
    if problems:
        raise NotReadyError("\n".join(problems))
    return Ready(deployment, found)


def _tools() -> Iterator[str]:
    if shell.node_folder() is None or not CDK.exists():
        yield "Node.js and the cdk command are not installed: run `make setup-deploy`."


def _account(cloud: Cloud) -> Iterator[str]:
    if cloud.region is None:
        yield "No AWS region is set: export AWS_REGION, for example AWS_REGION=eu-central-1."
    if not cloud.has_credentials():
        yield "No AWS credentials are set: run `aws configure`, `aws sso login`, or export AWS_PROFILE."
    elif cloud.region is not None:
        try:
            cloud.account()
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "unknown")
            yield f"AWS refuses these credentials ({code}): sign in again, or choose others with AWS_PROFILE."
        except BotoCoreError as error:
            yield f"AWS does not answer ({type(error).__name__}): look at the network, AWS_REGION and AWS_PROFILE."
