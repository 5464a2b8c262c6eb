"""What a person reads first."""

from pathlib import Path
from typing import Any

import pytest

from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.settings import Settings
from infra.local.banner import banner

URL = "http://127.0.0.1:8340"


def shown(model: ScriptedEmbedder | None = None, *, new: bool = False, **settings: Any) -> str:
    chosen = Settings.model_validate({"data": Path("/data"), **settings})
    return banner(URL, "plm_x", chosen, model, new=new)


def test_it_names_where_it_is_with_which_key_and_where_the_data_are() -> None:
    text = shown()
    assert f"Palimpsest is at {URL}   (docs: {URL}/v1/docs)" in text
    assert "Key    plm_x" in text
    assert "Data   /data\n" in text
    assert "Ctrl-C" in text


def test_a_new_folder_is_said_to_be_new() -> None:
    assert "Data   /data   (new)\n" in shown(new=True)


def test_the_model_is_named_and_how_to_clear_it() -> None:
    text = shown(ScriptedEmbedder(name="e5"), embedder="bundled")
    assert "by meaning, with e5 on this machine (PALIMPSEST_EMBEDDER=none: by words only)" in text
    assert "Find it in another language:" in text


def test_a_model_of_a_provider_is_not_said_to_be_here() -> None:
    text = shown(
        ScriptedEmbedder(name="e5"), embedder="openai", embedding_model="e5", embedding_url="http://x/v1"
    )
    assert "with e5 from openai" in text


def test_without_a_model_nothing_is_promised_that_words_cannot_do() -> None:
    text = shown()
    assert "by words and recency" in text
    assert "another language" not in text


def test_parts_that_are_elsewhere_are_named() -> None:
    text = shown(
        store="dynamodb", region="eu-central-1", search="opensearch", opensearch_url="http://localhost:9200"
    )
    assert "Tables palimpsest-* of DynamoDB (AWS, eu-central-1)" in text
    assert "Index  palimpsest-* of OpenSearch (http://localhost:9200)" in text
    emulated = shown(store="dynamodb", region="eu-central-1", dynamodb_endpoint="http://localhost:4566")
    assert "(http://localhost:4566)" in emulated


@pytest.mark.parametrize("model", [None, ScriptedEmbedder()])
def test_there_are_three_commands(model: ScriptedEmbedder | None) -> None:
    commands = [line for line in shown(model).splitlines() if line.startswith("curl ")]
    assert [command.split()[4] for command in commands] == [
        f"{URL}/v1/spaces/personal/{what}" for what in ("memories", "search", "recall")
    ]
