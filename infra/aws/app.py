"""The CDK app: `python -m infra.aws.app PACKAGE OUT`. Beside the package it is written what is to be deployed; nothing
is read from the environment."""

import sys
from pathlib import Path

from aws_cdk import App

from infra.aws.deployment import Deployment
from infra.aws.package import Package
from infra.aws.stacks.data import DataStack
from infra.aws.stacks.service import ServiceStack

FLAGS = {"@aws-cdk/core:defaultCrossStackReferences": "strong"}


def stacks(app: App, wanted: Deployment, package: Package) -> tuple[DataStack, ServiceStack]:
    """Both stacks; the second uses the first."""
    data = DataStack(app, wanted)
    return data, ServiceStack(app, wanted, data, package)


def main() -> None:
    """Synthesize the deployment that is described beside its package."""
    folder, out = map(Path, sys.argv[1:])
    app = App(context=FLAGS, outdir=str(out))
    wanted = Deployment.model_validate_json((folder / "deployment.json").read_text())
    stacks(app, wanted, Package(folder / "chalice" / "sam.json", folder / "code"))
    app.synth()


if __name__ == "__main__":
    main()
