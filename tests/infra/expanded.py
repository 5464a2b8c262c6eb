"""The stacks as CloudFormation gets them: synthesized offline, the serverless resources expanded as AWS expands them."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.cloudformation_include import CfnInclude
from cdk_nag import AwsSolutionsChecks, ServerlessChecks

from infra.aws.app import FLAGS, stacks
from infra.aws.deployment import Deployment
from infra.aws.emulator import PYTHON
from infra.aws.package import make_package
from infra.aws.wanted import wanted

EXPAND = """
import json, os, sys
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")
from samtranslator.translator.transform import transform
policies = type("None_", (), {"load": lambda self: {}})()
json.dump(transform(json.load(sys.stdin), {}, policies), sys.stdout)
"""

Template = Mapping[str, Any]


class Expanded(NamedTuple):
    """Both templates."""

    data: Template
    service: Template

    def resources(self, kind: str) -> dict[str, Any]:
        """Resources of a type in both, by what they are called."""
        both = {**self.data["Resources"], **self.service["Resources"]}
        return {name: one for name, one in both.items() if one["Type"] == kind}


def expanded(**environ: str) -> Expanded:
    """What a deployment with these settings becomes."""
    asked = wanted({f"PALIMPSEST_{name}": value for name, value in environ.items()})
    return made_of(asked)


def made_of(asked: Deployment) -> Expanded:
    """What a deployment becomes."""
    return _made_of(asked.model_dump_json())


@cache
def _made_of(described: str) -> Expanded:
    asked = Deployment.model_validate_json(described)
    with TemporaryDirectory() as folder:
        package = make_package(Path(folder) / "package", cache=None)
        app = App(context=FLAGS, outdir=f"{folder}/out")
        stacks(app, asked, package)
        made = app.synth()
        data = made.get_stack_by_name(f"{asked.name}-data").template
        service = made.get_stack_by_name(f"{asked.name}-service").template
    return Expanded(_plain(data), _plain(_without_serverless(service)))


def _without_serverless(template: Template) -> Template:
    assert PYTHON.exists(), "the expander is not installed: run `make setup-test`"
    done = subprocess.run(
        [PYTHON, "-c", EXPAND],
        input=json.dumps(template),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    whole: Template = json.loads(done.stdout)
    assert not [one for one in whole["Resources"].values() if one["Type"].startswith("AWS::Serverless")]
    return whole


def _plain(template: Template) -> Template:
    """Without what only the CDK command reads."""
    left = dict(template)
    left.pop("Rules", None)
    left["Parameters"] = {
        name: one for name, one in template.get("Parameters", {}).items() if name != "BootstrapVersion"
    }
    return left


def findings(found: Expanded) -> set[tuple[str, str]]:
    """(rule, resource) of everything that the rule packs say against the templates."""
    with TemporaryDirectory() as folder:
        app = App(outdir=f"{folder}/out")
        for name, template in found._asdict().items():
            file = Path(folder) / f"{name}.json"
            file.write_text(json.dumps(template))
            CfnInclude(Stack(app, name), "T", template_file=str(file))
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        Validations.of(app).add_plugins(ServerlessChecks(app))
        with pytest.raises(
            RuntimeError, match="ValidationFailed"
        ):  # it has found something, and wrote it down
            app.synth()
        report = json.loads((Path(folder) / "out" / "validation-report.json").read_text())
    return set(_told(report))


def _told(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for plugin in report["pluginReports"]:
        for violation in plugin["violations"]:
            rule = violation["ruleName"].partition("[")[0]
            for one in violation["violatingConstructs"]:
                yield rule, named(one["constructPath"].rpartition("/")[2])


def named(resource: str) -> str:
    """What we call a resource: without the hash that the CDK puts at the end."""
    return re.sub(r"[0-9A-F]{8}$", "", resource)
