"""The cloud's tables on a laptop: there, made on an emulator, or a plain sentence of what to do."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from chalicelib.settings import Settings
from chalicelib.stores.dynamodb.tables import DEFINITIONS
from infra.local.cannot_start import CannotStartError
from infra.local.tables import CloudTables

REGION = "eu-central-1"


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    """An AWS of this process, and credentials for it."""
    with mock_aws():
        yield


def settings(**others: Any) -> Settings:
    return Settings.model_validate({"store": "dynamodb", "region": REGION, "table_prefix": "here-", **others})


def client() -> Any:
    return boto3.client("dynamodb", region_name=REGION)


def emulated() -> Settings:
    """An endpoint that the mock takes for AWS's own."""
    return settings(dynamodb_endpoint=f"https://dynamodb.{REGION}.amazonaws.com")


def names() -> list[str]:
    return sorted(client().list_tables()["TableNames"])


def test_on_an_emulator_missing_tables_are_made_and_later_starts_find_them() -> None:
    CloudTables(emulated()).prepare()
    assert names() == sorted(f"here-{table.name}" for table in DEFINITIONS)
    CloudTables(emulated()).prepare()
    client().delete_table(TableName="here-inbox")
    CloudTables(emulated()).prepare()
    assert len(names()) == 3


def test_on_aws_nothing_is_made_and_it_is_said_what_is_missing() -> None:
    with pytest.raises(
        CannotStartError, match=r"There is no table here-memory, here-account, here-inbox in eu-"
    ):
        CloudTables(settings()).prepare()
    assert names() == []


def test_tables_that_are_there_are_used_on_aws() -> None:
    CloudTables(emulated()).prepare()
    tables = CloudTables(settings())
    tables.prepare()
    assert ":table/here-memory/stream/" in tables.stream()
    assert tables.streams().meta.service_model.service_name == "dynamodbstreams"


def test_a_table_without_a_stream_is_refused() -> None:
    CloudTables(emulated()).prepare()
    client().update_table(TableName="here-memory", StreamSpecification={"StreamEnabled": False})
    with pytest.raises(
        CannotStartError, match=r"here-memory has no stream, so the index would learn of nothing"
    ):
        CloudTables(settings()).prepare()


def test_tables_that_cannot_be_reached_are_a_plain_sentence() -> None:
    away = settings(dynamodb_endpoint="http://127.0.0.1:1", dynamodb_connect_timeout=0.2)
    with pytest.raises(CannotStartError, match=r"The tables at http://127.0.0.1:1 cannot be used"):
        CloudTables(away).prepare()


def test_without_credentials_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(CannotStartError, match=r"\(NoCredentialsError\).*AWS credentials are set"):
        CloudTables(settings()).prepare()


def test_a_refusal_is_a_plain_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = CloudTables(settings())

    def refuse(**_named: object) -> None:
        from botocore.exceptions import ClientError

        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeTable")

    monkeypatch.setattr(tables._client, "describe_table", refuse)
    with pytest.raises(CannotStartError, match=r"The tables at AWS cannot be used \(AccessDeniedException\)"):
        tables.prepare()
