"""What a deployment becomes, looked at before anything is deployed (RELIABILITY S6, S7, S8)."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.settings import Settings, SettingsError, secret_names
from chalicelib.stores.dynamodb.tables import DEFINITIONS
from infra.aws import gateway
from infra.aws.acknowledged import ACKNOWLEDGED
from infra.aws.functions import FUNCTIONS, Function
from infra.aws.wanted import wanted
from tests.infra.expanded import Expanded, expanded, findings, made_of, named

CANARY = "canary-8f2c"
pytestmark = pytest.mark.xdist_group("stacks")  # each stack is made once

WITH_SECRETS = "an OpenSearch of one's own, and a model of an endpoint"
WITH_BEDROCK = "a domain of one's own, and Bedrock"
VARIANTS: dict[str, dict[str, str]] = {
    "as it comes": {},
    "two nodes": {"DEPLOY_SEARCH_NODES": "2"},
    WITH_SECRETS: {
        "OPENSEARCH_URL": "https://search.example:9200",
        "OPENSEARCH_USER": "palimpsest",
        "OPENSEARCH_PASSWORD": f"{CANARY}-password",
        "EMBEDDER": "openai",
        "EMBEDDING_URL": "https://models.example/v1",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "EMBEDDING_KEY": f"{CANARY}-key",
    },
    WITH_BEDROCK: {
        "OPENSEARCH_URL": "https://search-mine.eu-central-1.es.amazonaws.com",
        "OPENSEARCH_SIGN": "true",
        "DEPLOY_SEARCH_ARN": "arn:aws:es:eu-central-1:123456789012:domain/mine",
        "EMBEDDER": "bedrock",
        "EMBEDDING_MODEL": "amazon.titan-embed-text-v2:0",
    },
}


OPENAI = {
    "PALIMPSEST_EMBEDDER": "openai",
    "PALIMPSEST_EMBEDDING_URL": "https://models.example/v1",
    "PALIMPSEST_EMBEDDING_MODEL": "text-embedding-3-small",
}
BEDROCK = {"PALIMPSEST_EMBEDDER": "bedrock", "PALIMPSEST_EMBEDDING_MODEL": "amazon.titan-embed-text-v2:0"}


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def found(request: pytest.FixtureRequest) -> Expanded:
    return expanded(**VARIANTS[request.param])


@pytest.fixture(scope="module")
def plain() -> Expanded:
    return expanded()


def statements(found: Expanded) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of every policy of a role, with the role's name."""
    for name, role in found.resources("AWS::IAM::Role").items():
        for policy in role["Properties"].get("Policies", []):
            for statement in policy["PolicyDocument"]["Statement"]:
                yield named(name), statement
    assert found.resources("AWS::IAM::Policy") == {}
    assert found.resources("AWS::IAM::ManagedPolicy") == {}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# ---------------------------------------------------------------------------- rule packs


def test_every_finding_of_the_rule_packs_is_acknowledged_and_nothing_else(plain: Expanded) -> None:
    known = {(rule, resource) for rule, (resources, _) in ACKNOWLEDGED.items() for resource in resources}
    seen = {one for one in findings(plain) if one[0].startswith(("AwsSolutions", "Serverless"))}
    assert sorted(seen - known) == [], "not acknowledged"
    assert sorted(known - seen) == [], "no longer found"


def test_every_acknowledgement_has_a_reason() -> None:
    assert all(len(reason.split()) >= 5 for _, reason in ACKNOWLEDGED.values())


def test_the_rule_packs_see_what_is_wrong(plain: Expanded) -> None:
    """A table without encryption, a function's wildcard: the packs look inside the expanded resources."""
    broken = json.loads(json.dumps({"data": plain.data, "service": plain.service}))
    for resource in broken["data"]["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            resource["Properties"]["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": False}
        if resource["Type"] == "AWS::SQS::Queue":
            resource["Properties"].pop("KmsMasterKeyId", None)
    rules = {rule for rule, _ in findings(Expanded(**broken))} - set(ACKNOWLEDGED)
    assert "AwsSolutions-DDB3" in rules


# ---------------------------------------------------------------------------- roles


def test_no_action_has_a_wildcard_and_resources_are_listed(found: Expanded) -> None:
    knows_none = {"xray:PutTraceSegments", "xray:PutTelemetryRecords", "dynamodb:ListStreams"}
    for role, statement in statements(found):
        assert statement["Effect"] == "Allow"
        actions = listed(statement["Action"])
        assert [action for action in actions if "*" in action] == [], role
        if "*" in listed(statement["Resource"]):
            assert set(actions) <= knows_none, (role, actions)


THINGS = {
    "memory": ["MemoryTable.Arn"],
    "memory indexes": ["MemoryTable.Arn/index/by_time", "MemoryTable.Arn/index/by_link"],
    "memory stream": ["MemoryTable.StreamArn"],
    "account": ["AccountTable.Arn"],
    "inbox": ["InboxTable.Arn"],
    "queue": ["InboxQueue.Arn"],
    "stream failures": ["StreamFailuresQueue.Arn"],
    "schedule failures": ["ScheduleFailuresQueue.Arn"],
    "search": ["Search.Arn/*"],
    "traces": ["*"],
    "streams": ["*"],
}
"""What a grant is on, but for the log, which each function has of its own."""
THINGS_OF: dict[str, dict[str, list[str]]] = {
    "as it comes": {},
    "two nodes": {},
    WITH_SECRETS: {"search": [], "secret": ["Settings.Id"]},
    WITH_BEDROCK: {
        "search": ["arn:aws:es:eu-central-1:123456789012:domain/mine/*"],
        "model": ["arn:AWS::Partition:bedrock:AWS::Region::foundation-model/amazon.titan-embed-text-v2:0"],
    },
}
"""What is different in a variant. Without an entry here there is no model and no secret."""


def told(found: Expanded, value: Any) -> str:
    """What a value of a template is: `MemoryTable.Arn`, wherever it comes from."""
    if isinstance(value, str):
        return value
    ((how, what),) = value.items()
    if how == "Fn::ImportValue":
        (output,) = [
            one["Value"]
            for one in found.data["Outputs"].values()
            if one.get("Export", {}).get("Name", "") == what
        ]
        return told(found, output)
    if how == "Fn::Join":
        return str(what[0]).join(told(found, part) for part in what[1])
    if how == "Fn::GetAtt":
        return f"{named(what[0])}.{what[1]}"
    assert how == "Ref"
    return named(what)


def allowed(found: Expanded) -> dict[str, list[tuple[str, str]]]:
    """What each role's own policies allow: actions, each with what it is on."""
    made: dict[str, list[tuple[str, str]]] = {}
    for role, statement in statements(found):
        assert statement.keys() == {"Effect", "Action", "Resource"}, role
        made.setdefault(role, []).extend(
            (action, told(found, resource))
            for action in listed(statement["Action"])
            for resource in listed(statement["Resource"])
        )
    return made


def expected(function: Function, variant: str) -> list[tuple[str, str]]:
    """What the table of functions asks for, in a variant."""
    things = {**THINGS, "log": [f"{function.resource}Log.Arn"], **THINGS_OF[variant]}
    return [
        (action, thing)
        for grant in function.grants
        for action in grant.actions
        for thing in things.get(grant.on, [])
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_function_has_a_role_of_its_own_with_the_grants_of_its_table(variant: str) -> None:
    """Each action on just what it is meant on. That a function needs it: `test_grants`."""
    check_roles_of_functions(expanded(**VARIANTS[variant]), variant)


def check_roles_of_functions(found: Expanded, variant: str) -> None:
    made = functions(found)
    roles = {name: told(found, one["Properties"]["Role"]) for name, one in made.items()}
    assert roles == {function.resource: f"{function.resource}Role.Arn" for function in FUNCTIONS}
    granted = allowed(found)
    for function in FUNCTIONS:
        wanted = expected(function, variant)
        assert sorted(granted[f"{function.resource}Role"]) == sorted(wanted), function.name


def test_what_a_function_is_connected_to_is_what_its_role_is_on(found: Expanded) -> None:
    """The ends of what Lambda does with the role: its events, its log, and where it puts what failed."""
    granted = {role: set(allowing) for role, allowing in allowed(found).items()}
    for name, function in functions(found).items():
        said = function["Properties"]
        group = said["LoggingConfig"]["LogGroup"]
        assert ("logs:PutLogEvents", f"{told(found, group)}.Arn") in granted[f"{name}Role"]
        if "DeadLetterConfig" in said:
            put = told(found, said["DeadLetterConfig"]["TargetArn"])
            assert ("sqs:SendMessage", put) in granted[f"{name}Role"]
    mappings = found.resources("AWS::Lambda::EventSourceMapping")
    stream, inbox = mappings["OnChanges"]["Properties"], mappings["OnMessages"]["Properties"]
    assert told(found, stream["FunctionName"]) == "Stream.Arn"
    assert told(found, inbox["FunctionName"]) == "Inbox.Arn"
    assert ("dynamodb:GetRecords", told(found, stream["EventSourceArn"])) in granted["StreamRole"]
    put = told(found, stream["DestinationConfig"]["OnFailure"]["Destination"])
    assert ("sqs:SendMessage", put) in granted["StreamRole"]
    assert ("sqs:ReceiveMessage", told(found, inbox["EventSourceArn"])) in granted["InboxRole"]


def test_beside_those_of_functions_there_are_two_roles_and_each_may_do_what_it_is_for(
    found: Expanded,
) -> None:
    """What calls a function by the clock may call those of the schedules, and put what failed aside; the gateway may
    write its log. Nobody else has a role."""
    roles = {named(name): one["Properties"] for name, one in found.resources("AWS::IAM::Role").items()}
    assert roles.keys() - {f"{function.resource}Role" for function in FUNCTIONS} == {
        "ScheduleRole",
        "GatewayLogRole",
    }
    targets = [one["Properties"]["Target"] for one in found.resources("AWS::Scheduler::Schedule").values()]
    assert {named(one["RoleArn"]["Fn::GetAtt"][0]) for one in targets} == {"ScheduleRole"}
    needed = {("lambda:InvokeFunction", json.dumps(one["Arn"])) for one in targets}
    needed |= {("sqs:SendMessage", json.dumps(one["DeadLetterConfig"]["Arn"])) for one in targets}
    granted = {
        (action, json.dumps(resource))
        for role, statement in statements(found)
        if role == "ScheduleRole"
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }
    assert granted == needed
    assert "ManagedPolicyArns" not in roles["ScheduleRole"]
    assert assumed_by(roles["ScheduleRole"]) == ["scheduler.amazonaws.com"]
    (trust,) = roles["ScheduleRole"]["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    gateway_log = roles["GatewayLogRole"]
    assert assumed_by(gateway_log) == ["apigateway.amazonaws.com"]
    assert [json.dumps(one).rpartition("/")[2] for one in gateway_log["ManagedPolicyArns"]] == [
        'AmazonAPIGatewayPushToCloudWatchLogs"]]}'
    ]
    assert "Policies" not in gateway_log
    (account,) = found.resources("AWS::ApiGateway::Account").values()
    assert named(account["Properties"]["CloudWatchRoleArn"]["Fn::GetAtt"][0]) == "GatewayLogRole"
    for function in FUNCTIONS:
        assert assumed_by(roles[f"{function.resource}Role"]) == ["lambda.amazonaws.com"]
        assert "ManagedPolicyArns" not in roles[f"{function.resource}Role"]


def assumed_by(role: dict[str, Any]) -> list[str]:
    return [one["Principal"]["Service"] for one in role["AssumeRolePolicyDocument"]["Statement"]]


def test_a_role_may_reach_a_model_and_a_secret_only_where_there_are_any() -> None:
    def actions(variant: str) -> set[str]:
        found = expanded(**VARIANTS[variant])
        return {action for _, statement in statements(found) for action in listed(statement["Action"])}

    bedrock, secret = "bedrock:InvokeModel", "secretsmanager:GetSecretValue"
    assert {bedrock, secret} & actions("as it comes") == set()
    own = actions(WITH_SECRETS)
    assert ({bedrock, secret} & own, any(action.startswith("es:") for action in own)) == ({secret}, False)
    assert {bedrock, secret} & actions(WITH_BEDROCK) == {bedrock}


# ---------------------------------------------------------------------------- functions


def functions(found: Expanded) -> dict[str, Any]:
    made = found.resources("AWS::Lambda::Function")
    assert set(made) == {function.resource for function in FUNCTIONS}
    return made


def test_every_function_has_a_time_out_memory_tracing_and_a_log(found: Expanded) -> None:
    for name, function in functions(found).items():
        said = function["Properties"]
        assert said["Timeout"] > 0, name
        assert said["MemorySize"] >= 256, name
        assert said["TracingConfig"] == {"Mode": "Active"}, name
        assert "LogGroup" in said["LoggingConfig"], name


def test_logs_are_kept_for_a_time_and_not_for_ever(found: Expanded) -> None:
    groups = found.resources("AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 1
    assert {one["Properties"]["RetentionInDays"] for one in groups.values()} == {30}


def test_the_environment_of_functions_is_settings_and_holds_no_secret(found: Expanded) -> None:
    known = {f"PALIMPSEST_{name.upper()}" for name in Settings.model_fields}
    hidden = {f"PALIMPSEST_{name.upper()}" for name in secret_names()}
    for function in functions(found).values():
        stated = function["Properties"]["Environment"]["Variables"]
        assert set(stated) - known <= {"OMP_WAIT_POLICY", "SECRET_VERSION"}
        assert set(stated) & hidden == set()


def test_no_secret_is_in_any_template(found: Expanded) -> None:
    assert CANARY not in json.dumps([found.data, found.service])


def test_what_the_stacks_give_makes_settings_that_hold_together(found: Expanded) -> None:
    for function in functions(found).values():
        stated = function["Properties"]["Environment"]["Variables"]
        plain = {
            name: value if isinstance(value, str) else "https://given.example/x"
            for name, value in stated.items()
        }
        read = Settings.from_environment(
            plain | {"AWS_REGION": "eu-central-1"},
            secrets=lambda *_: {"opensearch_password": "p", "embedding_key": "k"},
        )
        assert (read.store, read.search, read.metrics) == ("dynamodb", "opensearch", "emf")


# ---------------------------------------------------------------------------- events and their failures


def test_every_stream_queue_and_schedule_has_a_place_for_what_fails(found: Expanded) -> None:
    mappings = found.resources("AWS::Lambda::EventSourceMapping")
    assert set(mappings) == {"OnChanges", "OnMessages"}
    stream = mappings["OnChanges"]["Properties"]
    assert "Destination" in stream["DestinationConfig"]["OnFailure"]
    assert stream["BisectBatchOnFunctionError"] is True
    assert 0 < stream["MaximumRetryAttempts"] < 10_000
    assert 0 < stream["MaximumRecordAgeInSeconds"] < 86_400
    assert all(
        one["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"] for one in mappings.values()
    )
    queues = found.resources("AWS::SQS::Queue")
    with_dead_letters = {named(name) for name, one in queues.items() if "RedrivePolicy" in one["Properties"]}
    assert with_dead_letters == {"InboxQueue"}
    schedules = found.resources("AWS::Scheduler::Schedule")
    assert len(schedules) == 4
    for schedule in schedules.values():
        assert "Arn" in schedule["Properties"]["Target"]["DeadLetterConfig"]
    called_by_schedules = {"Reconcile", "Cleanup", "Sweep"}
    with_place = {name for name, one in functions(found).items() if "DeadLetterConfig" in one["Properties"]}
    assert with_place == called_by_schedules


def test_the_clock_does_what_is_promised_when_it_is_promised(found: Expanded) -> None:
    schedules = [one["Properties"] for one in found.resources("AWS::Scheduler::Schedule").values()]
    assert {
        (one["Target"]["Arn"]["Fn::GetAtt"][0], one["ScheduleExpression"], one["Target"]["Input"])
        for one in schedules
    } == {
        ("Reconcile", "rate(1 hour)", "{}"),
        ("Reconcile", "cron(15 2 * * ? *)", '{"whole": true}'),
        ("Cleanup", "cron(45 3 * * ? *)", "{}"),
        ("Sweep", "rate(5 minutes)", "{}"),
    }
    assert {one.get("State", "ENABLED") for one in schedules} == {"ENABLED"}
    assert {one.get("ScheduleExpressionTimezone", "UTC") for one in schedules} == {"UTC"}
    assert {one["FlexibleTimeWindow"]["Mode"] for one in schedules} == {"OFF"}, "at the time, not around it"


def test_a_message_stays_hidden_for_longer_than_its_function_may_work(found: Expanded) -> None:
    (queue,) = [
        one for name, one in found.resources("AWS::SQS::Queue").items() if named(name) == "InboxQueue"
    ]
    assert queue["Properties"]["VisibilityTimeout"] >= 6 * functions(found)["Inbox"]["Properties"]["Timeout"]


# ---------------------------------------------------------------------------- what is kept


def test_all_that_is_kept_is_kept_when_its_stack_is_deleted(found: Expanded) -> None:
    kinds = (
        "DynamoDB::Table",
        "SQS::Queue",
        "S3::Bucket",
        "KMS::Key",
        "OpenSearchService::Domain",
        "SecretsManager::Secret",
    )
    kept = [one for kind in kinds for one in found.resources(f"AWS::{kind}").values()]
    assert len(kept) >= 9
    assert {(one["DeletionPolicy"], one["UpdateReplacePolicy"]) for one in kept} == {("Retain", "Retain")}


def test_tables_are_as_the_stores_want_them_and_protected(found: Expanded) -> None:
    tables = {
        one["Properties"]["TableName"]: one["Properties"]
        for one in found.resources("AWS::DynamoDB::Table").values()
    }
    assert set(tables) == {f"palimpsest-{definition.name}" for definition in DEFINITIONS}
    for definition in DEFINITIONS:
        table = tables[f"palimpsest-{definition.name}"]
        assert table["KeySchema"] == definition.keys()
        assert table.get("LocalSecondaryIndexes", []) == definition.indexes()
        assert table["AttributeDefinitions"] == definition.attributes()
        assert table.get("StreamSpecification", {}).get("StreamViewType") == definition.stream
        assert table.get("TimeToLiveSpecification", {}).get("AttributeName") == definition.expires
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["DeletionProtectionEnabled"] is True
        assert table["SSESpecification"]["SSEType"] == "KMS"


def test_the_search_domain_speaks_only_tls_and_is_encrypted(plain: Expanded) -> None:
    (domain,) = plain.resources("AWS::OpenSearchService::Domain").values()
    said = domain["Properties"]
    assert said["DomainEndpointOptions"]["EnforceHTTPS"] is True
    assert said["EncryptionAtRestOptions"]["Enabled"] is True
    assert said["NodeToNodeEncryptionOptions"]["Enabled"] is True


@pytest.mark.parametrize("variant", list(VARIANTS)[2:])
def test_who_has_an_opensearch_pays_for_no_other(variant: str) -> None:
    assert expanded(**VARIANTS[variant]).resources("AWS::OpenSearchService::Domain") == {}


# ---------------------------------------------------------------------------- from one deployment to another


def imported(template: Any) -> set[str]:
    """Names of what a stack uses of another one."""
    return set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(template)))


def exported(template: Any) -> set[str]:
    """Names of what a stack lets others use."""
    return {one["Export"]["Name"] for one in template["Outputs"].values() if "Export" in one}


@pytest.mark.parametrize("before", VARIANTS)
@pytest.mark.parametrize("after", VARIANTS)
def test_what_the_running_service_uses_stays_while_it_is_changed(before: str, after: str) -> None:
    """The stack of what is kept is changed first: CloudFormation refuses to take away what is in use."""
    then = wanted({f"PALIMPSEST_{name}": value for name, value in VARIANTS[after].items()})
    if "OPENSEARCH_URL" not in VARIANTS[before] and not then.own_domain:
        then = then.model_copy(update={"keeps_domain": True})  # as `make deploy` finds it
    used = imported(expanded(**VARIANTS[before]).service)
    assert len(used) > 5
    assert used <= exported(made_of(then).data)


def test_another_secret_makes_other_functions_and_the_same_one_does_not() -> None:
    asked = wanted({f"PALIMPSEST_{name}": value for name, value in VARIANTS[WITH_SECRETS].items()})

    def environments(version: str) -> list[Any]:
        found = made_of(asked.model_copy(update={"secret_version": version}))
        return [one["Properties"]["Environment"] for one in functions(found).values()]

    assert environments("one") == environments("one")
    assert all(one != other for one, other in zip(environments("one"), environments("two"), strict=True))


# ---------------------------------------------------------------------------- the gateway


def test_even_the_gateways_own_errors_have_our_form(plain: Expanded) -> None:
    (api,) = plain.resources("AWS::ApiGateway::RestApi").values()
    answers = api["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert {
        "DEFAULT_4XX",
        "DEFAULT_5XX",
        "THROTTLED",
        "MISSING_AUTHENTICATION_TOKEN",
        "INTEGRATION_TIMEOUT",
    } <= set(answers)
    for response in gateway.GATEWAY_RESPONSES:
        body = json.loads(answers[response.kind]["responseTemplates"]["application/json"])
        assert set(body) == {"error"}
        assert set(body["error"]) == {"code", "message", "details"}
        assert re.fullmatch("[a-z_]+", body["error"]["code"])


def test_the_gateway_keeps_its_own_status_where_it_has_many_reasons(plain: Expanded) -> None:
    (api,) = plain.resources("AWS::ApiGateway::RestApi").values()
    answers = api["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert {kind for kind, answer in answers.items() if "statusCode" not in answer} == {
        "DEFAULT_4XX",
        "DEFAULT_5XX",
    }
    assert answers["THROTTLED"]["statusCode"] == "429"
    assert answers["THROTTLED"]["responseParameters"] == {"gatewayresponse.header.Retry-After": "'1'"}


def test_another_answer_of_the_gateway_is_deployed(plain: Expanded, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway goes on answering as it was deployed last: a changed answer alone has to deploy anew."""

    def deployed(found: Expanded) -> set[str]:
        return set(found.resources("AWS::ApiGateway::Deployment"))

    assert deployed(expanded(DEPLOY_LOG_DAYS="60")) == deployed(plain)
    monkeypatch.setattr(gateway, "GATEWAY_RESPONSES", gateway.GATEWAY_RESPONSES[:-1])
    assert deployed(expanded(DEPLOY_LOG_DAYS="3653")) != deployed(plain)


def test_the_gateway_throttles_traces_and_logs_routes_without_paths(plain: Expanded) -> None:
    (stage,) = plain.resources("AWS::ApiGateway::Stage").values()
    (methods,) = stage["Properties"]["MethodSettings"]
    assert (methods["ThrottlingRateLimit"], methods["ThrottlingBurstLimit"]) == (50, 100)
    assert methods["DataTraceEnabled"] is False
    assert stage["Properties"]["TracingEnabled"] is True
    logged = json.loads(stage["Properties"]["AccessLogSetting"]["Format"])
    assert not {"$context.path", "$context.requestOverride.path"} & set(logged.values())


# ---------------------------------------------------------------------------- what is refused before


@pytest.mark.parametrize(
    ("stated", "named_in_it"),
    [
        ({"PALIMPSEST_STORE": "sqlite"}, "PALIMPSEST_STORE"),
        ({"PALIMPSEST_NONSENSE": "1"}, "PALIMPSEST_NONSENSE"),
        ({"PALIMPSEST_DEPLOY_NONSENSE": "1"}, "PALIMPSEST_DEPLOY_NONSENSE"),
        ({"PALIMPSEST_DEPLOY_NAME": "Not A Name"}, "PALIMPSEST_DEPLOY_NAME"),
        ({"PALIMPSEST_DEPLOY_LOG_DAYS": "29"}, "PALIMPSEST_DEPLOY_LOG_DAYS"),
        ({"PALIMPSEST_EMBEDDER": "openai"}, "PALIMPSEST_EMBEDDING_MODEL"),
        (
            {"PALIMPSEST_OPENSEARCH_URL": "https://search.example", "PALIMPSEST_OPENSEARCH_SIGN": "true"},
            "PALIMPSEST_DEPLOY_SEARCH_ARN",
        ),
        (
            {"PALIMPSEST_OPENSEARCH_URL": "https://search.example", "PALIMPSEST_OPENSEARCH_USER": "u"},
            "PASSWORD",
        ),
        # what no function could start with
        ({**OPENAI, "PALIMPSEST_EMBEDDING_MODEL": "unheard-of"}, "PALIMPSEST_EMBEDD"),
        (
            {**BEDROCK, "PALIMPSEST_EMBEDDING_MODEL": "unheard.of", "PALIMPSEST_EMBEDDING_DIMENSION": "9"},
            "PALIMPSEST_EMBEDDER",
        ),
        ({"PALIMPSEST_REGION": "us-east-1"}, "PALIMPSEST_REGION"),
        ({"PALIMPSEST_DYNAMODB_ENDPOINT": "http://127.0.0.1:8000"}, "PALIMPSEST_DYNAMODB_ENDPOINT"),
        ({"PALIMPSEST_OPENSEARCH_URL": "http://127.0.0.1:9200"}, "cannot reach"),
        ({**OPENAI, "PALIMPSEST_EMBEDDING_URL": "http://localhost:11434/v1"}, "cannot reach"),
        # what would do nothing
        ({"PALIMPSEST_OPENSEARCH_USER": "u", "PALIMPSEST_OPENSEARCH_PASSWORD": "p"}, "does nothing"),
        (
            {"PALIMPSEST_DEPLOY_SEARCH_ARN": "arn:aws:es:eu-central-1:123456789012:domain/mine"},
            "does nothing",
        ),
        (
            {"PALIMPSEST_OPENSEARCH_URL": "https://search.example", "PALIMPSEST_DEPLOY_SEARCH_NODES": "2"},
            "does nothing",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(stated: dict[str, str], named_in_it: str) -> None:
    with pytest.raises(SettingsError, match=named_in_it):
        wanted(stated)


def test_what_only_a_laptop_has_is_passed_over() -> None:
    made = wanted({"PALIMPSEST_PORT": "8341", "PALIMPSEST_DATA": "/tmp/x"})
    assert made.environment == {
        "PALIMPSEST_EMBEDDER": "bundled",
        "PALIMPSEST_OPENSEARCH_PREFIX": "palimpsest",
    }


@pytest.mark.parametrize("said", ["true", "1", "yes", "on", "y", "t", "TRUE"])
def test_a_switch_means_the_same_to_the_deployment_and_to_the_functions(said: str) -> None:
    stated = {f"PALIMPSEST_{name}": value for name, value in VARIANTS[WITH_BEDROCK].items()}
    assert wanted(stated | {"PALIMPSEST_OPENSEARCH_SIGN": said}).signs is True


def test_two_installations_that_share_an_opensearch_do_not_share_an_index() -> None:
    stated = {"PALIMPSEST_OPENSEARCH_URL": "https://search.example"}
    prefixes = {
        wanted(stated | {"PALIMPSEST_DEPLOY_NAME": name}).environment["PALIMPSEST_OPENSEARCH_PREFIX"]
        for name in ("staging", "production")
    }
    assert prefixes == {"staging", "production"}


def test_an_emulator_on_this_machine_reaches_what_is_on_this_machine() -> None:
    stated = {
        "PALIMPSEST_OPENSEARCH_URL": "http://127.0.0.1:9200",
        "AWS_ENDPOINT_URL": "https://127.0.0.1:4566",
    }
    assert wanted(stated).own_domain is False
