"""What must survive: tables, queues, bucket, search domain, secret, and the key that encrypts them. All is retained
when the stack is deleted."""

from typing import Any, TypeVar

from aws_cdk import Aws, CfnOutput, CfnResource, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_opensearchservice as opensearch
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from chalicelib.stores.dynamodb.tables import DEFINITIONS, TableDefinition
from infra.aws.deployment import Deployment
from infra.aws.functions import INBOX

ENGINE = "OpenSearch_2.19"
NOTHING = "{}"
RECEIVES = 5
"""How often a message is tried before it goes to the dead-letter queue."""
VISIBLE_AFTER = 6 * INBOX.seconds
"""Seconds; AWS asks for six times the function's time-out."""
KEPT_DAYS = 14
"""How long a queue keeps a message; no queue keeps longer."""
ENCRYPTED_BY = ("dynamodb", "es", "s3", "secretsmanager", "sqs")
"""Services that use the key on behalf of whoever may use them."""
HTTP_VERBS = ("Delete", "Get", "Head", "Patch", "Post", "Put")


Kept = TypeVar("Kept", bound=CfnResource)


class DataStack(Stack):
    """Everything that is kept."""

    def __init__(self, scope: Construct, wanted: Deployment) -> None:
        super().__init__(
            scope,
            f"{wanted.name}-data",
            description=f"Palimpsest {wanted.name}: what is kept",
            termination_protection=True,
        )
        self._wanted = wanted
        self.key = self._key()
        self.tables = {table.name: self._table(table) for table in DEFINITIONS}
        self.inbox = self._inbox()
        self.stream_failures = self._dead_letters("stream-failures")
        self.schedule_failures = self._dead_letters("schedule-failures")
        self._bucket()
        self.domain = self._domain() if wanted.own_domain or wanted.keeps_domain else None
        self.secret = self._secret()
        self._export()
        CfnOutput(self, "KeyArn", value=self.key.key_arn)
        CfnOutput(self, "SecretArn", value=self.secret.attr_id)

    def stream_arn(self) -> str:
        """The memory table's stream."""
        return self.tables["memory"].attr_stream_arn

    def _export(self) -> None:
        """Always all that the service may use, whatever it uses now: what it uses may not go before it does."""
        for value in (
            *(table.attr_arn for table in self.tables.values()),
            self.stream_arn(),
            self.inbox.queue_arn,
            self.inbox.queue_url,
            self.stream_failures.queue_arn,
            self.schedule_failures.queue_arn,
            self.secret.attr_id,
            *((self.domain.attr_arn, self.domain.attr_domain_endpoint) if self.domain is not None else ()),
        ):
            self.export_value(value)

    def _key(self) -> kms.Key:
        key = kms.Key(
            self,
            "Key",
            alias=f"alias/{self._wanted.name}",
            description=f"Encrypts what Palimpsest {self._wanted.name} keeps",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="ForTheServicesThatKeepData",
                principals=[iam.AnyPrincipal()],
                actions=[
                    "kms:CreateGrant",
                    "kms:Decrypt",
                    "kms:DescribeKey",
                    "kms:Encrypt",
                    "kms:GenerateDataKey",
                ],
                resources=["*"],
                conditions={
                    "StringEquals": {
                        "kms:CallerAccount": Aws.ACCOUNT_ID,
                        "kms:ViaService": [f"{name}.{Aws.REGION}.amazonaws.com" for name in ENCRYPTED_BY],
                    }
                },
            )
        )
        return key

    def _table(self, table: TableDefinition) -> dynamodb.CfnTable:
        made = dynamodb.CfnTable(
            self,
            f"{table.name.title()}Table",
            table_name=f"{self._wanted.table_prefix}{table.name}",
            billing_mode="PAY_PER_REQUEST",
            key_schema=_spelled(table.keys()),
            attribute_definitions=_spelled(table.attributes()),
            local_secondary_indexes=_spelled(table.indexes()) or None,
            stream_specification={"streamViewType": table.stream} if table.stream else None,
            time_to_live_specification={"attributeName": table.expires, "enabled": True}
            if table.expires
            else None,
            point_in_time_recovery_specification={"pointInTimeRecoveryEnabled": True},
            deletion_protection_enabled=True,
            sse_specification={"sseEnabled": True, "sseType": "KMS", "kmsMasterKeyId": self.key.key_arn},
        )
        return _retained(made)

    def _inbox(self) -> sqs.Queue:
        dead = self._queue("inbox-dead", fifo=True)
        return self._queue(
            "inbox",
            fifo=True,
            visibility_timeout=Duration.seconds(VISIBLE_AFTER),
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=RECEIVES, queue=dead),
        )

    def _dead_letters(self, name: str) -> sqs.Queue:
        return self._queue(name)

    def _queue(self, name: str, *, fifo: bool = False, **more: object) -> sqs.Queue:
        return sqs.Queue(
            self,
            f"{''.join(part.title() for part in name.split('-'))}Queue",
            queue_name=f"{self._wanted.name}-{name}{'.fifo' if fifo else ''}",
            fifo=fifo or None,
            encryption=sqs.QueueEncryption.KMS,
            encryption_master_key=self.key,
            enforce_ssl=True,
            retention_period=Duration.days(KEPT_DAYS),
            removal_policy=RemovalPolicy.RETAIN,
            **more,  # type: ignore[arg-type]
        )

    def _bucket(self) -> s3.Bucket:
        """For files: attachments and exports."""
        return s3.Bucket(
            self,
            "Files",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1)),
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _domain(self) -> opensearch.CfnDomain:
        wanted = self._wanted
        zones = wanted.search_nodes > 1
        arn = f"arn:{Aws.PARTITION}:es:{Aws.REGION}:{Aws.ACCOUNT_ID}:domain/{wanted.name}/*"
        made = opensearch.CfnDomain(
            self,
            "Search",
            domain_name=wanted.name,
            engine_version=ENGINE,
            cluster_config={
                "instanceType": wanted.search_instance,
                "instanceCount": wanted.search_nodes,
                "zoneAwarenessEnabled": zones,
                **({"zoneAwarenessConfig": {"availabilityZoneCount": 2}} if zones else {}),
            },
            ebs_options={"ebsEnabled": True, "volumeType": "gp3", "volumeSize": wanted.search_gigabytes},
            encryption_at_rest_options={"enabled": True, "kmsKeyId": self.key.key_id},
            node_to_node_encryption_options={"enabled": True},
            domain_endpoint_options={
                "enforceHttps": True,
                "tlsSecurityPolicy": "Policy-Min-TLS-1-2-PFS-2023-10",
            },
            # Only roles of this account, and of those only the ones that a policy of their own lets in.
            access_policies={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"AWS": f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root"},
                        "Action": [f"es:ESHttp{verb}" for verb in HTTP_VERBS],
                        "Resource": arn,
                    }
                ],
            },
        )
        return _retained(made)

    def _secret(self) -> secretsmanager.CfnSecret:
        """Always there, since its name is taken for good once it was; it holds nothing until `make deploy` puts in
        what is set. A template never sees its value."""
        made = secretsmanager.CfnSecret(
            self,
            "Settings",
            name=f"{self._wanted.name}/settings",
            description=f"Settings of Palimpsest {self._wanted.name} that are secrets, as JSON",
            kms_key_id=self.key.key_arn,
            secret_string=NOTHING,
        )
        return _retained(made)


def _retained(made: Kept) -> Kept:
    made.apply_removal_policy(RemovalPolicy.RETAIN)
    return made


def _spelled(value: object) -> Any:
    """The same with the first letter of each name small, as the CDK's own classes spell what AWS's API spells large."""
    if isinstance(value, list):
        return [_spelled(one) for one in value]
    if isinstance(value, dict):
        return {f"{name[0].lower()}{name[1:]}": _spelled(one) for name, one in value.items()}
    return value
