"""What a deployment is to be: all that the stacks need to know, as plain values without secrets. `wanted.py` reads it
from the environment of whoever deploys, and checks that the functions can start with it."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

LOG_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 180, 365, 731, 3653)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,20}[a-z0-9]$")]


STATED_HERE = "Palimpsest:stated"
"""Where the template of a deployed stack tells which settings were stated: by their names, never by their values."""


class Deployment(BaseModel):
    """Immutable. The fields up to `burst` are PALIMPSEST_DEPLOY_ and their names."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Name = Field("palimpsest", description="What the stacks, tables and queues are called by.")
    search_instance: str = Field(
        "t3.medium.search", description="Type of the nodes of the OpenSearch domain."
    )
    search_nodes: int = Field(1, ge=1, le=20, description="How many of them; from 2 on in two zones.")
    search_gigabytes: int = Field(20, ge=10, le=3_000, description="Disk of each of them.")
    search_arn: str | None = Field(
        None, pattern=r"^arn:", description="ARN of an existing domain whose requests are signed."
    )
    log_days: int = Field(30, description="Days for which logs are kept; CloudWatch knows only some.")
    requests_per_second: int = Field(50, ge=1, le=10_000, description="What the gateway lets through.")
    burst: int = Field(100, ge=1, le=5_000, description="What it lets through at once.")

    environment: Mapping[str, str] = Field(
        default_factory=dict, description="The service's settings, without secrets."
    )
    secrets: frozenset[str] = Field(
        frozenset(), description="Names of the settings that are in Secrets Manager."
    )
    secret_version: str | None = Field(
        None, description="Which version of the secret it is; another one makes new functions."
    )
    stated: tuple[str, ...] = Field((), description="Names of the variables that were stated.")
    own_domain: bool = Field(True, description="Whether the index is in a domain that the stacks make.")
    keeps_domain: bool = Field(
        False, description="Whether a domain that was made before stays in the stack, though it is not used."
    )
    signs: bool = Field(True, description="Whether requests to OpenSearch are signed by the function's role.")
    bedrock_model: str | None = Field(None, description="The model that is asked of Bedrock, if one is.")
    bundles_model: bool = Field(True, description="Whether the package holds the embedding model.")

    @field_validator("log_days")
    @classmethod
    def _known_to_cloudwatch(cls, days: int) -> int:
        if days not in LOG_DAYS:
            raise ValueError(f"must be one of {', '.join(map(str, LOG_DAYS))}")
        return days

    @property
    def table_prefix(self) -> str:
        """What the names of the tables begin with."""
        return f"{self.name}-"


STATED = frozenset(
    {"burst", "log_days", "name", "requests_per_second", "search_arn", "search_gigabytes", "search_instance", "search_nodes"}
)  # fmt: skip
"""The fields that a person states."""
