"""Settings that are secrets come from Secrets Manager, and are never told when something is wrong with them."""

import json
from typing import Any

import pytest
from boto3 import Session
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws

from chalicelib import bootstrap
from chalicelib.providers.secrets_manager import SecretUnreadableError, kept_secrets
from chalicelib.settings import Settings, SettingsError, secret_names

REGION = "eu-central-1"


def kept(value: str) -> Any:
    """What is read of a secret with this value, by a client as AWS has it."""
    with mock_aws():
        client: Any = Session().client("secretsmanager", region_name=REGION)
        client.create_secret(Name="palimpsest/settings", SecretString=value)
        return kept_secrets("palimpsest/settings", REGION)


def test_it_is_read_by_name() -> None:
    assert kept(json.dumps({"embedding_key": "k"})) == {"embedding_key": "k"}


@pytest.mark.parametrize("value", ["hunter2", "[]", '{"embedding_key": 7}', '"hunter2"'])
def test_a_value_that_is_no_object_of_texts_is_refused_and_not_told(value: str) -> None:
    with pytest.raises(SecretUnreadableError) as raised:
        kept(value)
    assert "hunter2" not in str(raised.value)


def test_one_that_is_not_there_is_said() -> None:
    with mock_aws(), pytest.raises(SecretUnreadableError, match="ResourceNotFoundException"):
        kept_secrets("nothing", REGION)


def test_a_service_that_does_not_answer_is_said() -> None:
    class Away:
        def get_secret_value(self, **_: Any) -> Any:
            raise EndpointConnectionError(endpoint_url="https://secrets.example")

    with pytest.raises(SecretUnreadableError, match="does not answer"):
        kept_secrets("palimpsest/settings", REGION, client=Away)


# ---------------------------------------------------------------------------- as settings

OPENAI = {
    "PALIMPSEST_EMBEDDER": "openai",
    "PALIMPSEST_EMBEDDING_MODEL": "text-embedding-3-small",
    "PALIMPSEST_EMBEDDING_URL": "https://models.example/v1",
    "PALIMPSEST_SECRET": "palimpsest/settings",
    "AWS_REGION": REGION,
}


def test_settings_take_what_the_secret_holds() -> None:
    asked = []

    def secrets(name: str, region: str) -> dict[str, str]:
        asked.append((name, region))
        return {"embedding_key": "from the secret"}

    read = Settings.from_environment(OPENAI, secrets=secrets)
    assert read.embedding_key is not None
    assert read.embedding_key.get_secret_value() == "from the secret"
    assert asked == [("palimpsest/settings", REGION)]
    stated = Settings.from_environment(OPENAI | {"PALIMPSEST_EMBEDDING_KEY": "stated"}, secrets=secrets)
    assert stated.embedding_key is not None
    assert stated.embedding_key.get_secret_value() == "stated"


def test_a_secret_may_hold_nothing_but_secrets() -> None:
    with pytest.raises(SettingsError, match="store") as raised:
        Settings.from_environment(OPENAI, secrets=lambda *_: {"store": "hunter2"})
    assert "hunter2" not in str(raised.value)


def test_the_settings_that_are_secrets_are_known() -> None:
    assert secret_names() == {"embedding_key", "opensearch_password"}


def test_a_secret_that_cannot_be_read_stops_the_start_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPENAI.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(bootstrap, "_services", None)
    with mock_aws(), pytest.raises(SettingsError, match="PALIMPSEST_SECRET"):
        bootstrap.services()
