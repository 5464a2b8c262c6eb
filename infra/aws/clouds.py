"""The AWS account of whoever deploys: the few calls that the CDK command does not make for us."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from boto3 import Session
from botocore.config import Config
from botocore.exceptions import ClientError

BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
PATIENCE = Config(connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 4, "mode": "standard"})
LONG = Config(connect_timeout=5, read_timeout=910, retries={"total_max_attempts": 1})
"""For a function that may work for 15 minutes."""
GONE = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "KMSInvalidStateException",
        "NoSuchBucket",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)
"""Codes of what is there no longer, or is about to go."""
UNTIL_IT_IS_GONE_DAYS = 30
"""For a key; what it encrypted cannot be read afterwards."""


class Cloud:
    """One account and region, by the credentials of the environment. Raises botocore's errors."""

    @cached_property
    def _session(self) -> Session:
        return Session()

    @property
    def region(self) -> str | None:
        """The region that the environment or the profile names."""
        return self._session.region_name

    def has_credentials(self) -> bool:
        """Whether there are any; not whether they hold."""
        return self._session.get_credentials() is not None

    def account(self) -> str:
        """The id of the account that the credentials are of."""
        return str(self._client("sts").get_caller_identity()["Account"])

    def bootstrapped(self) -> bool:
        """Whether the CDK has its own bucket and roles here."""
        try:
            self._client("ssm").get_parameter(Name=BOOTSTRAPPED)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ParameterNotFound":
                return False
            raise
        return True

    def outputs(self, stack: str) -> dict[str, str]:
        """The outputs of a stack by their names; empty when there is no such stack."""
        found = self._stack(stack) or {}
        return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}

    def metadata(self, stack: str) -> dict[str, Any]:
        """What the template of a deployed stack says of itself; empty when there is no such stack."""
        if self._stack(stack) is None:
            return {}
        found = self._client("cloudformation").get_template(StackName=stack)["TemplateBody"]
        body = json.loads(found) if isinstance(found, str) else found
        return dict(body.get("Metadata", {}))

    def keep_secret(self, secret: str, value: Mapping[str, str]) -> str:
        """Let the secret hold these settings, as JSON; its version, which is another one only if they are others."""
        client = self._client("secretsmanager")
        before = client.get_secret_value(SecretId=secret)
        if json.loads(before["SecretString"]) == dict(value):
            return str(before["VersionId"])
        put = client.put_secret_value(SecretId=secret, SecretString=json.dumps(dict(value)))
        return str(put["VersionId"])

    def invoke(self, function: str, event: Mapping[str, object]) -> str | None:
        """Call a function and wait for it; None when it ended well, otherwise the kind of its error."""
        answer = self._client("lambda", LONG).invoke(
            FunctionName=function, InvocationType="RequestResponse", Payload=json.dumps(event).encode()
        )
        failed: str | None = answer.get("FunctionError")
        return failed

    def resources(self, stack: str) -> dict[str, list[str]]:
        """Physical ids of a stack's resources by their type; empty when there is no such stack."""
        if self._stack(stack) is None:
            return {}
        pages = self._client("cloudformation").get_paginator("list_stack_resources")
        found: dict[str, list[str]] = {}
        for page in pages.paginate(StackName=stack):
            for one in page["StackResourceSummaries"]:
                if one["ResourceStatus"] != "DELETE_COMPLETE":
                    found.setdefault(one["ResourceType"], []).append(one.get("PhysicalResourceId", ""))
        return found

    def unprotect(self, stack: str) -> None:
        """Let the stack be deleted."""
        self._client("cloudformation").update_termination_protection(
            StackName=stack, EnableTerminationProtection=False
        )

    def erase(self, kind: str, name: str) -> str:
        """Delete one thing that a deleted stack has left; what became of it. What is gone already is gone. Raises
        ClientError, BotoCoreError."""
        try:
            return str(self._deleters()[kind](name))
        except ClientError as error:
            if error.response["Error"]["Code"] in GONE:
                return "was gone already"
            raise

    def _stack(self, name: str) -> dict[str, Any] | None:
        """A stack that is there; None for one that never was, or was deleted."""
        try:
            found = self._client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":
                return None
            raise
        return None if found["StackStatus"] == "DELETE_COMPLETE" else dict(found)

    def _deleters(self) -> dict[str, Any]:
        return {
            "AWS::DynamoDB::Table": self._delete_table,
            "AWS::SQS::Queue": self._delete_queue,
            "AWS::S3::Bucket": self._delete_bucket,
            "AWS::OpenSearchService::Domain": self._delete_domain,
            "AWS::SecretsManager::Secret": self._delete_secret,
            "AWS::KMS::Key": self._delete_key,
        }

    def _delete_table(self, name: str) -> str:
        client = self._client("dynamodb")
        client.update_table(TableName=name, DeletionProtectionEnabled=False)
        client.delete_table(TableName=name)
        return "deleted; AWS keeps a backup of a table for 35 days"

    def _delete_queue(self, url: str) -> str:
        self._client("sqs").delete_queue(QueueUrl=url)
        return "deleted"

    def _delete_bucket(self, name: str) -> str:
        client = self._client("s3")
        for page in client.get_paginator("list_object_versions").paginate(Bucket=name):
            for one in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                client.delete_object(Bucket=name, Key=one["Key"], VersionId=one["VersionId"])
        client.delete_bucket(Bucket=name)
        return "deleted"

    def _delete_domain(self, name: str) -> str:
        self._client("opensearch").delete_domain(DomainName=name)
        return "deleted"

    def _delete_secret(self, name: str) -> str:
        self._client("secretsmanager").delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)
        return "deleted"

    def _delete_key(self, key: str) -> str:
        self._client("kms").schedule_key_deletion(KeyId=key, PendingWindowInDays=UNTIL_IT_IS_GONE_DAYS)
        return f"will be deleted in {UNTIL_IT_IS_GONE_DAYS} days; until then that can be cancelled"

    def _client(self, service: str, config: Config = PATIENCE) -> Any:
        return self._session.client(service, config=config)  # type: ignore[call-overload]
