"""What serves: the Chalice app as `chalice package` describes it, with a role, a log and limits for each function, and
what calls them. Nothing here is missed when it is deleted and made anew."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Aws, CfnOutput, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_scheduler as scheduler
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from chalicelib.stores.dynamodb.tables import MEMORY
from infra.aws import gateway
from infra.aws.deployment import STATED_HERE, Deployment
from infra.aws.functions import CLEANUP, FUNCTIONS, INBOX, RECONCILE, STREAM, SWEEP, Function, On
from infra.aws.package import Package
from infra.aws.stacks.data import DataStack

RECORDS = 100
MESSAGES = 10
STREAM_RETRIES = 100
"""Then the records go to the failure queue; the reconciler repairs what they would have changed."""
STREAM_AGE_S = 6 * 3600
SCHEDULE_RETRIES = 3
SCHEDULE_AGE_S = 3600

SCHEDULES: tuple[tuple[str, Function, str, Mapping[str, object]], ...] = (
    ("ReconcileSample", RECONCILE, "rate(1 hour)", {}),
    ("ReconcileWhole", RECONCILE, "cron(15 2 * * ? *)", {"whole": True}),
    ("DailyCleanup", CLEANUP, "cron(45 3 * * ? *)", {}),
    ("SweepJobs", SWEEP, "rate(5 minutes)", {}),
)
"""Name, function, when (UTC), event."""
SCHEDULED = {function for _, function, _, _ in SCHEDULES}

ACCESS_LOG = {
    "at": "$context.requestTime",
    "request": "$context.requestId",
    "method": "$context.httpMethod",
    "route": "$context.resourcePath",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "error": "$context.error.responseType",
}
"""What the gateway logs of a request: its route, never its path, query or body."""


class ServiceStack(Stack):
    """Everything that runs."""

    def __init__(self, scope: Construct, wanted: Deployment, data: DataStack, package: Package) -> None:
        super().__init__(
            scope, f"{wanted.name}-service", description=f"Palimpsest {wanted.name}: what serves"
        )
        self._wanted = wanted
        self._data = data
        self.template_options.metadata = {STATED_HERE: list(wanted.stated)}
        self.app = CfnInclude(self, "App", template_file=str(_template(package)))
        code = assets.Asset(self, "Code", path=str(package.code))
        for function in FUNCTIONS:
            self._function(function, code)
        self._api()
        self._stream()
        self._inbox()
        self._schedules()
        CfnOutput(
            self, "Url", value=f"https://{self._api_id()}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}/api"
        )
        CfnOutput(self, "ApiId", value=self._api_id())
        CfnOutput(self, "ReconcileFunction", value=self.app.get_resource(RECONCILE.resource).ref)

    # ------------------------------------------------------------------ functions

    def _function(self, function: Function, code: assets.Asset) -> None:
        log = self._log(f"{function.resource}Log", f"/palimpsest/{self._wanted.name}/{function.name}")
        role = self._role(function, log)
        made = self.app.get_resource(function.resource)
        settings: dict[str, Any] = {
            "CodeUri": {"Bucket": code.s3_bucket_name, "Key": code.s3_object_key},
            "Role": role.role_arn,
            "Timeout": function.seconds,
            "MemorySize": function.megabytes,
            "Environment": {"Variables": self._environment()},
            "LoggingConfig": {"LogGroup": log.ref, "LogFormat": "Text"},
        }
        if function in SCHEDULED:
            settings["DeadLetterQueue"] = {
                "Type": "SQS",
                "TargetArn": self._data.schedule_failures.queue_arn,
            }
        for name, value in settings.items():
            made.add_property_override(name, value)

    def _environment(self) -> dict[str, str]:
        """The same for all functions; nothing of it is a secret. Another version of the secret is another environment,
        so that no function goes on with the old one."""
        wanted, data = self._wanted, self._data
        stated = dict(wanted.environment) | {
            "PALIMPSEST_STORE": "dynamodb",
            "PALIMPSEST_SEARCH": "opensearch",
            "PALIMPSEST_TABLE_PREFIX": wanted.table_prefix,
            "PALIMPSEST_QUEUE_URL": data.inbox.queue_url,
            "PALIMPSEST_METRICS": "emf",
            "OMP_WAIT_POLICY": "passive",
        }
        if wanted.own_domain and data.domain is not None:
            stated["PALIMPSEST_OPENSEARCH_URL"] = f"https://{data.domain.attr_domain_endpoint}"
            stated["PALIMPSEST_OPENSEARCH_SIGN"] = "true"
        if wanted.secrets:
            stated["PALIMPSEST_SECRET"] = data.secret.attr_id
            stated["SECRET_VERSION"] = wanted.secret_version or "none"
        return stated

    def _role(self, function: Function, log: logs.CfnLogGroup) -> iam.Role:
        statements = [
            iam.PolicyStatement(actions=list(grant.actions), resources=resources)
            for grant in function.grants
            if (resources := self._resources(grant.on, log))
        ]
        return iam.Role(
            self,
            f"{function.resource}Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"Palimpsest {self._wanted.name}: the function {function.name}",
            inline_policies={"grants": iam.PolicyDocument(statements=statements)},
        )

    def _resources(self, on: On, log: logs.CfnLogGroup) -> list[str]:
        """What a grant is on, in this deployment; nothing where the deployment has no such thing."""
        data, wanted = self._data, self._wanted
        table = {name: made.attr_arn for name, made in data.tables.items()}
        model = wanted.bedrock_model
        found: dict[On, list[str]] = {
            "memory": [table["memory"]],
            "memory indexes": [f"{table['memory']}/index/{index}" for index, _ in MEMORY.local_indexes],
            "memory stream": [data.stream_arn()],
            "account": [table["account"]],
            "inbox": [table["inbox"]],
            "queue": [data.inbox.queue_arn],
            "stream failures": [data.stream_failures.queue_arn],
            "schedule failures": [data.schedule_failures.queue_arn],
            "search": [f"{self._search_arn()}/*"] if wanted.signs else [],
            "model": [f"arn:{Aws.PARTITION}:bedrock:{Aws.REGION}::foundation-model/{model}"] if model else [],
            "secret": [data.secret.attr_id] if wanted.secrets else [],
            "log": [log.attr_arn],
            "traces": ["*"],
            "streams": ["*"],
        }
        return found[on]

    def _search_arn(self) -> str:
        if self._wanted.own_domain and self._data.domain is not None:
            return self._data.domain.attr_arn
        return str(self._wanted.search_arn)

    def _log(self, name: str, group: str) -> logs.CfnLogGroup:
        made = logs.CfnLogGroup(self, name, log_group_name=group, retention_in_days=self._wanted.log_days)
        made.apply_removal_policy(RemovalPolicy.DESTROY)
        return made

    def _arn(self, function: Function) -> str:
        return self.app.get_resource(function.resource).get_att("Arn").to_string()

    # ------------------------------------------------------------------ what calls them

    def _api_id(self) -> str:
        return self.app.get_resource("RestAPI").ref

    def _api(self) -> None:
        log = self._log("AccessLog", f"/palimpsest/{self._wanted.name}/access")
        api = self.app.get_resource("RestAPI")
        api.add_property_override("TracingEnabled", True)
        api.add_property_override(
            "AccessLogSetting", {"DestinationArn": log.attr_arn, "Format": json.dumps(ACCESS_LOG)}
        )
        api.add_property_override(
            "MethodSettings",
            [
                {
                    "ResourcePath": "/*",
                    "HttpMethod": "*",
                    "ThrottlingRateLimit": self._wanted.requests_per_second,
                    "ThrottlingBurstLimit": self._wanted.burst,
                    "LoggingLevel": "ERROR",
                    "DataTraceEnabled": False,
                }
            ],
        )
        api.add_resource_dependency(self._gateway_may_log())

    def _gateway_may_log(self) -> apigateway.CfnAccount:
        """One of a whole region; it stays when the stack goes, since others may use it."""
        role = iam.Role(
            self,
            "GatewayLogRole",
            assumed_by=iam.ServicePrincipal("apigateway.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(
                    "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
                )
            ],
        )
        role.apply_removal_policy(RemovalPolicy.RETAIN)
        made = apigateway.CfnAccount(self, "GatewayLogs", cloud_watch_role_arn=role.role_arn)
        made.apply_removal_policy(RemovalPolicy.RETAIN)
        return made

    def _stream(self) -> None:
        lambda_.CfnEventSourceMapping(
            self,
            "OnChanges",
            function_name=self._arn(STREAM),
            event_source_arn=self._data.stream_arn(),
            starting_position="TRIM_HORIZON",
            batch_size=RECORDS,
            parallelization_factor=2,
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=STREAM_RETRIES,
            maximum_record_age_in_seconds=STREAM_AGE_S,
            function_response_types=["ReportBatchItemFailures"],
            destination_config={"onFailure": {"destination": self._data.stream_failures.queue_arn}},
        )

    def _inbox(self) -> None:
        lambda_.CfnEventSourceMapping(
            self,
            "OnMessages",
            function_name=self._arn(INBOX),
            event_source_arn=self._data.inbox.queue_arn,
            batch_size=MESSAGES,
            function_response_types=["ReportBatchItemFailures"],
        )

    def _schedules(self) -> None:
        role = iam.Role(
            self,
            "ScheduleRole",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
            inline_policies={"grants": iam.PolicyDocument(statements=list(self._of_schedules()))},
        )
        for name, function, when, event in SCHEDULES:
            scheduler.CfnSchedule(
                self,
                name,
                description=f"Palimpsest {self._wanted.name}: {function.name}",
                flexible_time_window={"mode": "OFF"},
                schedule_expression=when,
                target={
                    "arn": self._arn(function),
                    "roleArn": role.role_arn,
                    "input": json.dumps(event),
                    "deadLetterConfig": {"arn": self._data.schedule_failures.queue_arn},
                    "retryPolicy": {
                        "maximumRetryAttempts": SCHEDULE_RETRIES,
                        "maximumEventAgeInSeconds": SCHEDULE_AGE_S,
                    },
                },
            )

    def _of_schedules(self) -> Iterable[iam.PolicyStatement]:
        called = {function.name: self._arn(function) for _, function, _, _ in SCHEDULES}
        yield iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=list(called.values()))
        yield iam.PolicyStatement(
            actions=["sqs:SendMessage"], resources=[self._data.schedule_failures.queue_arn]
        )


def _template(package: Package) -> Path:
    """The packaged app without what this stack says better: its one role for all, and its outputs. Its API's
    definition says what the gateway answers by itself, too."""
    template = json.loads(package.template.read_text())
    template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"] |= gateway.defined()
    del template["Resources"]["DefaultRole"]
    template.pop("Outputs", None)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"].update(
                Role="given by the stack", CodeUri={"Bucket": "stack", "Key": "stack"}
            )
    written = package.template.with_name("included.json")
    written.write_text(json.dumps(template, indent=1))
    return written
