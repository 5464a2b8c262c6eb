"""An installation is set up by variables; a wrong one is told by its name, never by its value, before anything starts."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from chalicelib.settings import Settings, SettingsError


def told(environ: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as raised:
        Settings.from_environment(environ)
    assert raised.value.__cause__ is None
    return str(raised.value)


def test_nothing_need_be_set_to_start() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert (settings.store, settings.search, settings.embedder) == ("sqlite", "embedded", "none")
    assert (settings.host, settings.port, settings.data) == ("127.0.0.1", 8340, Path(".palimpsest"))
    assert settings.max_body_bytes == 6_291_456


def test_every_setting_is_read_from_its_variable_as_what_it_is() -> None:
    settings = Settings.from_environment(
        {
            "PALIMPSEST_STORE": "dynamodb",
            "PALIMPSEST_REGION": "eu-west-1",
            "PALIMPSEST_PORT": "9000",
            "PALIMPSEST_DATA": "/var/lib/palimpsest",
            "PALIMPSEST_DYNAMODB_READ_TIMEOUT": "2.5",
            "PALIMPSEST_OIDC_CREATE_ACCOUNTS": "true",
            "PALIMPSEST_EMBEDDING_KEY": " sk-1 \n",
            "PALIMPSEST_EMBEDDING_RELEVANCE": "0.4",
            "PALIMPSEST_PUBLIC_URL": "https://memory.example.org/",
            "PALIMPSEST_RANKING": '{"words": 0.75}',
            "PATH": "/bin",
        }
    )
    assert (settings.store, settings.region, settings.port) == ("dynamodb", "eu-west-1", 9000)
    assert settings.data == Path("/var/lib/palimpsest")
    assert settings.dynamodb_read_timeout == 2.5
    assert settings.oidc_create_accounts is True
    assert settings.embedding_key == SecretStr("sk-1")
    assert settings.embedding_relevance == 0.4
    assert settings.public_url == "https://memory.example.org"
    assert settings.ranking.words == 0.75


def test_each_setting_says_what_it_is_for() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith((".", "}.")), name


def test_the_environment_of_the_process_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_PORT", "8999")
    assert Settings.from_environment().port == 8999


def test_an_empty_variable_is_not_set() -> None:
    assert (
        Settings.from_environment({"PALIMPSEST_EMBEDDING_DIMENSION": "", "PALIMPSEST_PORT": " "})
        == Settings()
    )


def test_the_tests_own_variables_are_no_settings() -> None:
    assert Settings.from_environment({"PALIMPSEST_TEST_ALL": "1"}) == Settings()


@pytest.mark.parametrize(
    ("environ", "region"),
    [
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "us-east-1"}, "us-east-1"),
        ({"AWS_REGION": "eu-west-1", "PALIMPSEST_REGION": "eu-north-1"}, "eu-north-1"),
        ({}, ""),
    ],
)
def test_the_region_is_the_functions_own_unless_it_is_set(environ: Mapping[str, str], region: str) -> None:
    assert Settings.from_environment(environ).region == region


def test_a_misspelt_variable_is_told_with_the_nearest_one() -> None:
    expected = "PALIMPSEST_PROT: there is no such setting. Is PALIMPSEST_PORT meant?"
    assert told({"PALIMPSEST_PROT": "1"}) == expected


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"PALIMPSEST_PORT": "many"}, "PALIMPSEST_PORT: Input should be a valid integer"),
        ({"PALIMPSEST_PORT": "70000"}, "PALIMPSEST_PORT: Input should be less than or equal to 65535"),
        ({"PALIMPSEST_STORE": "mongo"}, "PALIMPSEST_STORE: Input should be 'sqlite' or 'dynamodb'"),
        ({"PALIMPSEST_EMBEDDING_TIMEOUT": "nan"}, "PALIMPSEST_EMBEDDING_TIMEOUT: Input should be"),
        (
            {"PALIMPSEST_EMBEDDING_RELEVANCE": "1.5"},
            "PALIMPSEST_EMBEDDING_RELEVANCE: Input should be less than",
        ),
        ({"PALIMPSEST_TABLE_PREFIX": "Tables!"}, "PALIMPSEST_TABLE_PREFIX: String should match"),
        ({"PALIMPSEST_RANKING": "{"}, "PALIMPSEST_RANKING: must be JSON"),
        ({"PALIMPSEST_RANKING": '{"wrods": 1}'}, "PALIMPSEST_RANKING: wrods: Extra inputs are not permitted"),
        ({"PALIMPSEST_RANKING": '{"words": -1}'}, "PALIMPSEST_RANKING: words: Input should be greater than"),
        (
            {"PALIMPSEST_EMBEDDING_URL": "localhost:11434"},
            "PALIMPSEST_EMBEDDING_URL: must be a URL that begins",
        ),
        ({"PALIMPSEST_EMBEDDING_URL": "http://"}, "PALIMPSEST_EMBEDDING_URL: must be a URL that begins"),
        (
            {"PALIMPSEST_EMBEDDING_URL": "http://h:port"},
            "PALIMPSEST_EMBEDDING_URL: must be a URL that begins",
        ),
        ({"PALIMPSEST_EMBEDDING_URL": "http://[::1"}, "PALIMPSEST_EMBEDDING_URL: must be a URL that begins"),
        ({"PALIMPSEST_EMBEDDING_URL": "http://a b"}, "PALIMPSEST_EMBEDDING_URL: must be a URL that begins"),
        ({"PALIMPSEST_EMBEDDING_URL": "http://a\x1b"}, "PALIMPSEST_EMBEDDING_URL: must be a URL that begins"),
        (
            {"PALIMPSEST_EMBEDDING_URL": "http://a\\b"},
            "PALIMPSEST_EMBEDDING_URL: must be a URL without a back",
        ),
        (
            {"PALIMPSEST_EMBEDDING_URL": "https://me:pw@h/v1"},
            "PALIMPSEST_EMBEDDING_URL: must be a URL without",
        ),
        (
            {"PALIMPSEST_EMBEDDING_URL": "https://h/v1?key=1"},
            "PALIMPSEST_EMBEDDING_URL: must be a URL without",
        ),
    ],
)
def test_a_wrong_value_is_told_by_its_variable(environ: Mapping[str, str], message: str) -> None:
    assert told(environ).startswith(message)


@pytest.mark.parametrize(
    ("environ", "needed"),
    [
        ({"PALIMPSEST_STORE": "dynamodb"}, ["REGION"]),
        ({"PALIMPSEST_SEARCH": "opensearch"}, ["OPENSEARCH_URL"]),
        ({"PALIMPSEST_OPENSEARCH_SIGN": "true"}, ["REGION"]),
        ({"PALIMPSEST_OPENSEARCH_USER": "me"}, ["OPENSEARCH_PASSWORD"]),
        ({"PALIMPSEST_OPENSEARCH_PASSWORD": "me"}, ["OPENSEARCH_USER"]),
        ({"PALIMPSEST_EMBEDDER": "openai"}, ["EMBEDDING_MODEL", "EMBEDDING_URL"]),
        ({"PALIMPSEST_EMBEDDER": "bedrock"}, ["EMBEDDING_MODEL", "REGION"]),
        ({"PALIMPSEST_OIDC_ISSUER": "https://id.example.org/"}, ["OIDC_AUDIENCE", "OIDC_JWKS_URL"]),
    ],
)
def test_what_is_chosen_needs_its_settings(environ: Mapping[str, str], needed: list[str]) -> None:
    lines = told(environ).splitlines()
    assert [line.split(":")[0] for line in lines] == [f"PALIMPSEST_{name}" for name in needed]
    assert all(line.endswith("needs it.") for line in lines)


def test_the_issuer_is_kept_to_the_letter() -> None:
    settings = Settings.from_environment(
        {
            "PALIMPSEST_OIDC_ISSUER": "https://id.example.org/",
            "PALIMPSEST_OIDC_AUDIENCE": "palimpsest",
            "PALIMPSEST_OIDC_JWKS_URL": "https://id.example.org/keys",
        }
    )
    assert settings.oidc_issuer == "https://id.example.org/"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_addresses_need_no_permission(host: str) -> None:
    assert Settings.from_environment({"PALIMPSEST_HOST": host}).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "memory.example.org"])
def test_an_address_that_others_reach_has_to_be_meant(host: str) -> None:
    assert "PALIMPSEST_ALLOW_REMOTE=true" in told({"PALIMPSEST_HOST": host})
    allowed = Settings.from_environment({"PALIMPSEST_HOST": host, "PALIMPSEST_ALLOW_REMOTE": "true"})
    assert allowed.host == host


def test_all_mistakes_are_told_at_once() -> None:
    lines = told({"PALIMPSEST_PORT": "x", "PALIMPSEST_THREADS": "0", "PALIMPSEST_COLOUR": "red"}).splitlines()
    assert len(lines) == 3


def test_secrets_are_told_nowhere() -> None:
    canary = "sk-canary-0123456789"
    settings = Settings(
        embedding_key=SecretStr(canary), opensearch_user="me", opensearch_password=SecretStr(canary)
    )
    assert canary not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    for environ in (
        {"PALIMPSEST_EMBEDDING_KEY": f"{canary}\nHost: evil"},
        {"PALIMPSEST_EMBEDDING_KEY": f"{canary}ž"},
        {"PALIMPSEST_OPENSEARCH_PASSWORD": canary},
        {"PALIMPSEST_KEY": canary},
        {"PALIMPSEST_RANKING": canary},
    ):
        assert canary not in told(environ)


def test_settings_do_not_change_while_it_runs() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]
