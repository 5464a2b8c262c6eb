"""Settings choose the adapters; what cannot be is said in a sentence at the start."""

from pathlib import Path

import pytest

from chalicelib import bootstrap
from chalicelib.domain.scope import Scope, Space
from chalicelib.settings import Settings, SettingsError
from chalicelib.sqlite_file import Database


def parts(tmp_path: Path, **stated: str) -> bootstrap.Parts:
    settings = Settings.from_environment(
        {f"PALIMPSEST_{name.upper()}": value for name, value in stated.items()}
    )
    return bootstrap.parts_of(settings, Database(tmp_path / "file.sqlite"))


def test_a_laptop_has_everything_in_one_file(tmp_path: Path) -> None:
    chosen = parts(tmp_path)
    names = [type(one).__name__ for one in (chosen.memories, chosen.accounts, chosen.inbox, chosen.index)]
    assert names == ["SqliteMemoryStore", "SqliteAccountStore", "SqliteInboxStore", "EmbeddedIndex"]
    assert (chosen.embedder, chosen.tokens, chosen.reranker) == (None, None, None)


def test_each_part_can_be_its_cloud_adapter(tmp_path: Path) -> None:
    chosen = parts(
        tmp_path,
        store="dynamodb",
        region="eu-central-1",
        search="opensearch",
        opensearch_url="http://127.0.0.1:9",
        opensearch_user="u",
        opensearch_password="p",
        oidc_issuer="https://id.example",
        oidc_audience="palimpsest",
        oidc_jwks_url="https://id.example/keys",
    )
    assert type(chosen.memories).__name__ == "DynamoMemoryStore"
    assert type(chosen.index).__name__ == "OpenSearchIndex"
    assert chosen.tokens is not None


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ({"embedder": "bundled"}, "BundledEmbedder"),
        (
            {
                "embedder": "openai",
                "embedding_model": "text-embedding-3-small",
                "embedding_url": "http://127.0.0.1:9",
            },
            "OpenAiEmbedder",
        ),
        (
            {
                "embedder": "bedrock",
                "embedding_model": "amazon.titan-embed-text-v2:0",
                "region": "eu-central-1",
            },
            "BedrockEmbedder",
        ),
    ],
)
def test_each_embedder_can_be_chosen(tmp_path: Path, stated: dict[str, str], name: str) -> None:
    assert type(parts(tmp_path, **stated).embedder).__name__ == name


def test_an_embedder_that_cannot_be_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="PALIMPSEST_EMBEDDER"):
        parts(
            tmp_path,
            embedder="bedrock",
            embedding_model="unheard.of",
            region="eu-central-1",
            embedding_dimension="9",
        )


def test_calls_to_opensearch_on_aws_are_signed(tmp_path: Path) -> None:
    settings = Settings.from_environment(
        {
            "PALIMPSEST_SEARCH": "opensearch",
            "PALIMPSEST_OPENSEARCH_URL": "https://search.example",
            "PALIMPSEST_OPENSEARCH_SIGN": "true",
            "PALIMPSEST_REGION": "eu-central-1",
        }
    )
    signer = bootstrap._opensearch_auth(settings)
    headers = signer("GET", "https://search.example/_search", "")  # type: ignore[operator]
    assert "AWS4-HMAC-SHA256" in headers["Authorization"]
    assert bootstrap.parts_of(settings, Database(tmp_path / "file.sqlite")).index is not None


def test_sqlite_without_a_file_is_a_plain_sentence() -> None:
    with pytest.raises(SettingsError, match="data folder"):
        bootstrap.parts_of(Settings())


def test_a_process_builds_its_services_once_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)
    built: list[bootstrap.Services] = []
    database = Database(tmp_path / "file.sqlite")
    real = bootstrap.parts_of
    monkeypatch.setattr(bootstrap, "parts_of", lambda settings: real(settings, database))
    built = [bootstrap.services(), bootstrap.services()]
    assert built[0] is built[1]


def test_counts_of_a_space_are_unknown_while_there_is_no_index(tmp_path: Path) -> None:
    chosen = parts(tmp_path)
    services = bootstrap.build(Settings(), chosen)
    scope = Scope.model_validate(
        {
            "actor": {"kind": "person", "id": "anna"},
            "space": Space.personal("anna").model_dump(),
            "rights": ["read"],
            "place": "http",
        }
    )
    assert services.space_list.counts(scope) is None
    services.rebuild.rebuild()
    assert services.space_list.counts(scope) is not None
