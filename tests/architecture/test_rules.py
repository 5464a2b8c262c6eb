"""The rules see what they are meant to see, and nothing else."""

import ast
from collections.abc import Callable

import pytest

from tests.architecture import rules
from tests.architecture.rules import Broken


def _lines(rule: Callable[[ast.AST], list[Broken]], code: str) -> list[int]:
    return [broken.line for broken in rule(ast.parse(code))]


def test_a_function_is_measured_without_its_docstring() -> None:
    body = "    x = 1\n"
    assert _lines(rules.long_functions, "def f():\n" + body * 49) == []
    assert _lines(rules.long_functions, "def f():\n" + body * 50) == [1]
    assert _lines(rules.long_functions, 'def f():\n    """One.\n\n    Two.\n    """\n' + body * 49) == []


def test_a_long_method_is_named_with_its_class() -> None:
    code = "class A:\n    def f(self):\n" + "        x = 1\n" * 60
    assert rules.long_functions(ast.parse(code)) == [Broken(2, "A.f", "61 lines")]


@pytest.mark.parametrize(
    "handler",
    ["except:", "except Exception:", "except BaseException as e:", "except (ValueError, Exception):"],
)
def test_a_catch_all_is_seen(handler: str) -> None:
    assert _lines(rules.catch_alls, f"try:\n    f()\n{handler}\n    g()\n") == [3]


def test_a_suppressed_exception_is_a_catch_all_too() -> None:
    assert _lines(rules.catch_alls, "with contextlib.suppress(Exception):\n    f()\n") == [1]


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept ValueError:\n    g()\n",
        "try:\n    f()\nexcept BaseException:\n    undo()\n    raise\n",
        "with contextlib.suppress(KeyError):\n    f()\n",
    ],
)
def test_a_named_exception_and_one_raised_again_are_no_catch_alls(code: str) -> None:
    assert _lines(rules.catch_alls, code) == []


@pytest.mark.parametrize(
    "code",
    [
        "os.environ['A']",
        "os.environ.get('A')",
        "os.getenv('A')",
        "from os import environ",
        "dict(os.environ)",
    ],
)
def test_a_read_of_the_environment_is_seen(code: str) -> None:
    assert _lines(rules.environment_reads, code) == [1]


@pytest.mark.parametrize("code", ["os.environ['A'] = 'b'", "os.environ.setdefault('A', 'b')", "environ = {}"])
def test_setting_a_variable_for_a_library_is_no_read(code: str) -> None:
    assert _lines(rules.environment_reads, code) == []


@pytest.mark.parametrize(
    "code",
    [
        "OpenSearch(hosts=h)",
        "opensearchpy.OpenSearch(hosts=h)",
        "Config(connect_timeout=1)",
        "boto3.client('s3')",
        "self.session.client('s3')",
        "urllib.request.urlopen(u)",
        "requests.get(u)",
        "httpx.Client()",
        "subprocess.run(['true'])",
        "sqlite3.connect(p)",
    ],
)
def test_a_call_without_a_time_out_is_seen(code: str) -> None:
    assert _lines(rules.unbounded_calls, code) == [1]


@pytest.mark.parametrize(
    "code",
    [
        "OpenSearch(hosts=h, timeout=5)",
        "Config(connect_timeout=1, read_timeout=2)",
        "boto3.client('s3', config=c)",
        "urllib.request.urlopen(u, None, 5)",
        "mapping.get(u)",
        "sqlite3.connect(p, timeout=5)",
    ],
)
def test_a_bounded_call_passes(code: str) -> None:
    assert _lines(rules.unbounded_calls, code) == []
