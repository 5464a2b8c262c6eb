"""What the rule packs of cdk-nag find in the expanded templates and we leave as it is, each with its reason. A finding
that is not here fails `make test`, and so does an entry that is no longer found."""

from infra.aws.functions import FUNCTIONS

EVERY_FUNCTION = tuple(function.resource for function in FUNCTIONS)
EVERY_ROLE = tuple(f"{function.resource}Role" for function in FUNCTIONS)
CALLED_AND_ANSWERED = ("APIHandler", "Inbox", "Stream")

ACKNOWLEDGED: dict[str, tuple[tuple[str, ...], str]] = {
    "AwsSolutions-APIG2": (
        ("RestAPI",),
        "Requests are checked by the app, field by field, with errors of one form; the gateway would say less, in its own form.",
    ),
    "AwsSolutions-APIG3": (
        ("RestAPIapiStage",),
        "A web application firewall costs a fixed sum a month and is the operator's choice; throttling and our own keys are always there.",
    ),
    "AwsSolutions-IAM4": (
        ("GatewayLogRole",),
        "AWS's own policy for this one purpose: API Gateway writes its logs with it, and names no narrower one.",
    ),
    "AwsSolutions-IAM5": (
        EVERY_ROLE,
        "X-Ray and dynamodb:ListStreams know no resources, logs are streams of one group, and an index is a path below the domain.",
    ),
    "AwsSolutions-L1": (
        EVERY_FUNCTION,
        "The functions run on the Python that packed them, so that compiled parts and bytecode fit.",
    ),
    "AwsSolutions-OS1": (
        ("Search",),
        "Reached over TLS by signed requests of listed roles only; a VPC would need NAT or endpoints for every other call.",
    ),
    "AwsSolutions-OS3": (
        ("Search",),
        "Only roles of this account, each let in by a policy of its own, get through; addresses of functions are not fixed.",
    ),
    "AwsSolutions-OS4": (("Search",), "Master nodes of their own are for domains of more than three nodes."),
    "AwsSolutions-OS7": (
        ("Search",),
        "One node is the default of a small installation, since the index can be rebuilt from the table; two or more are in two zones.",
    ),
    "AwsSolutions-OS9": (("Search",), "Slow logs would hold what people search for and what memories say."),
    "AwsSolutions-S1": (
        ("Files",),
        "Nothing is in the bucket yet; who may read it is in the account's own trail.",
    ),
    "AwsSolutions-SMG4": (
        ("Settings",),
        "What is in it are keys of others: only the operator can change them there, and then here by `make deploy`.",
    ),
    "AwsSolutions-SQS3": (
        ("ScheduleFailuresQueue", "StreamFailuresQueue"),
        "These are where failed events go.",
    ),
    "Serverless-LambdaDLQ": (
        CALLED_AND_ANSWERED,
        "Called by what waits for the answer or tries again by itself: the gateway, the stream with its failure queue, the queue with its dead-letter queue.",
    ),
    "Serverless-LambdaEventSourceMappingDestination": (
        ("OnMessages",),
        "A queue's failures go to its dead-letter queue; a mapping of a queue has no other destination.",
    ),
    "Serverless-LambdaLatestVersion": (
        EVERY_FUNCTION,
        "The functions run on the Python that packed them, so that compiled parts and bytecode fit.",
    ),
    "Serverless-LambdaStarPermissions": (
        EVERY_ROLE,
        "X-Ray and dynamodb:ListStreams know no resources; no action has a wildcard.",
    ),
    "Serverless-SQSRedrivePolicy": (
        ("InboxDeadQueue", "ScheduleFailuresQueue", "StreamFailuresQueue"),
        "These are where failed messages and events go.",
    ),
}
"""By rule: the resources, as the templates call them without the hash at the end, and the reason."""
