"""Whoever does not use the engine does not pay for its library (230 ms)."""

import subprocess
import sys


def test_the_library_is_imported_on_first_use_only():
    code = """
import sys
from chalicelib.search import text
from chalicelib.search.opensearch.client import Client
from chalicelib.search.opensearch.index import OpenSearchIndex
OpenSearchIndex(Client("http://127.0.0.1:9"), text, prefix="x")
heavy = {"opensearchpy", "urllib3", "requests", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
