"""What a deployment is to be, from the environment of whoever deploys.

The service's own settings (`chalicelib.settings`) are given to its functions, except those that only a laptop has, and
secrets, which go to Secrets Manager. What only the stacks need begins with PALIMPSEST_DEPLOY_.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from chalicelib.settings import FOR_DEPLOYMENT, OF_OTHERS, PREFIX, Settings, SettingsError, secret_names

LAPTOP = frozenset({"allow_remote", "data", "host", "port", "threads"})
"""Settings that only `make run` has; they are passed over."""
OURS = frozenset({"metrics", "queue_url", "search", "secret", "store", "table_prefix"})
"""Settings that the deployment gives by itself."""

LOG_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 180, 365, 731, 3653)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,20}[a-z0-9]$")]


class Deployment(BaseModel):
    """All that the stacks need to know. Immutable."""

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

    @field_validator("log_days")
    @classmethod
    def _known_to_cloudwatch(cls, days: int) -> int:
        if days not in LOG_DAYS:
            raise ValueError(f"must be one of {', '.join(map(str, LOG_DAYS))}")
        return days

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """The deployment that `environ` states. Raises SettingsError, which names every variable that is wrong."""
        own: dict[str, Any] = {
            name.removeprefix(FOR_DEPLOYMENT).lower(): value
            for name, value in environ.items()
            if name.startswith(FOR_DEPLOYMENT) and value.strip()
        }
        stated = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX) and not name.startswith(OF_OTHERS) and value.strip()
        }
        clash = sorted(OURS & set(stated))
        if clash:
            raise SettingsError(f"{PREFIX}{clash[0].upper()}: a deployment sets it by itself.")
        kept = {name: value for name, value in stated.items() if name not in LAPTOP}
        kept.setdefault("embedder", "bundled")
        secrets = frozenset(kept) & secret_names()
        try:
            made = cls.model_validate(
                own
                | {
                    "environment": {
                        f"{PREFIX}{name.upper()}": kept[name] for name in sorted(set(kept) - secrets)
                    },
                    "secrets": secrets,
                }
            )
        except ValidationError as error:
            lines = [
                f"{FOR_DEPLOYMENT}{str(one['loc'][0]).upper()}: {one['msg']}"
                for one in error.errors(include_input=False)
            ]
            raise SettingsError("\n".join(lines)) from None
        made.check(kept)
        return made

    def check(self, kept: Mapping[str, str]) -> None:
        """Raise SettingsError when the functions could not start with these settings."""
        whole = {f"{PREFIX}{name.upper()}": value for name, value in kept.items()}
        whole |= {f"{PREFIX}STORE": "dynamodb", f"{PREFIX}SEARCH": "opensearch", "AWS_REGION": "eu-central-1"}
        if self.own_domain:
            whole |= {f"{PREFIX}OPENSEARCH_URL": "https://search.example", f"{PREFIX}OPENSEARCH_SIGN": "true"}
        settings = Settings.from_environment(whole)
        if settings.opensearch_sign and not self.own_domain and self.search_arn is None:
            raise SettingsError(
                f"{FOR_DEPLOYMENT}SEARCH_ARN: PALIMPSEST_OPENSEARCH_SIGN with a URL of your own needs it."
            )

    @property
    def own_domain(self) -> bool:
        """Whether the stacks make an OpenSearch domain, because no URL of one is given."""
        return f"{PREFIX}OPENSEARCH_URL" not in self.environment

    @property
    def signs(self) -> bool:
        """Whether requests to OpenSearch are signed by the function's role."""
        return self.own_domain or self.environment.get(f"{PREFIX}OPENSEARCH_SIGN", "").lower() in {
            "1",
            "true",
            "yes",
            "on",
        }

    @property
    def bedrock_model(self) -> str | None:
        """The model that is asked of Bedrock, if one is."""
        if self.environment.get(f"{PREFIX}EMBEDDER") != "bedrock":
            return None
        return self.environment[f"{PREFIX}EMBEDDING_MODEL"]

    @property
    def bundles_model(self) -> bool:
        """Whether the package holds the embedding model."""
        return self.environment.get(f"{PREFIX}EMBEDDER") == "bundled"

    @property
    def table_prefix(self) -> str:
        """What the names of the tables begin with."""
        return f"{self.name}-"
