"""The CDK runs on the Node.js that is installed with it, whatever this machine has."""

import os

from infra.aws.shell import node_folder

folder = node_folder()
assert folder is not None, "Node.js is not installed: run `make setup-test`"
os.environ["JSII_NODE"] = str(folder / "node")
