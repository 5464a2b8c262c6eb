"""Settings of an installation, from the environment: the one place where it is read.

    PALIMPSEST_PORT=8341 make run

Each field is read from PALIMPSEST_ and its name in capitals; an empty variable counts as not set. `docs/settings.md`
names them all, by a test. What an admin sets while it runs is not here but in the store (`domain.accounts.Installation`).
"""

import difflib
import json
import os
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from chalicelib.domain.ranking import RankingWeights

PREFIX = "PALIMPSEST_"
FOR_TESTS = f"{PREFIX}TEST_"
"""Variables that begin so are the tests' own and no settings."""
FOR_CLI = f"{PREFIX}CLI_"
"""Variables that begin so are read by the command `palimpsest` (`infra.cli.settings`) and are no settings here."""
FOR_DEPLOYMENT = f"{PREFIX}DEPLOY_"
"""Variables that begin so are read by `make deploy` (`infra.aws.deployment`) and are no settings here."""
OF_OTHERS = (FOR_TESTS, FOR_CLI, FOR_DEPLOYMENT)
MEGABYTE = 1024 * 1024


def stated_in(environ: Mapping[str, str], prefix: str, *, but: tuple[str, ...] = ()) -> dict[str, str]:
    """What `environ` states under `prefix`, by names without it in small letters; not what begins as one of `but`. An
    empty variable counts as not set."""
    return {
        name.removeprefix(prefix).lower(): value
        for name, value in environ.items()
        if name.startswith(prefix) and not name.startswith(but) and value.strip()
    }


class SettingsError(Exception):
    """The environment does not make sense; the message has a line for each variable, and never a value."""


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        well_formed = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, an address that is none
        well_formed = False
    if not well_formed or any(character.isspace() or not character.isprintable() for character in text):
        raise ValueError("must be a URL that begins with http:// or https://")
    if set(text) & set("@?#"):
        raise ValueError("must be a URL without user, password, query and fragment")
    if "\\" in text:  # which host that is depends on who reads it
        raise ValueError("must be a URL without a backslash")
    return text


def _without_slash(url: str) -> str:
    return url.rstrip("/")


def _secret(secret: SecretStr) -> SecretStr:
    """Without the white space around it that copying leaves. A line break inside would be told in an error of the HTTP
    library, and the secret with it."""
    text = secret.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("must be one line of plain characters")
    return SecretStr(text)


ExactUrl = Annotated[str, AfterValidator(_url)]
Url = Annotated[ExactUrl, AfterValidator(_without_slash)]
Secret = Annotated[SecretStr, AfterValidator(_secret)]
Seconds = Annotated[float, Field(gt=0, le=120, allow_inf_nan=False)]
Attempts = Annotated[int, Field(ge=1, le=20)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Prefix = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


class Settings(BaseModel):
    """All settings; the defaults are those of `make run`. Immutable; secrets do not show in `repr`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    store: Literal["sqlite", "dynamodb"] = Field(
        "sqlite", description="Where memories and accounts are kept."
    )
    data: Path = Field(Path(".palimpsest"), description="Folder of the SQLite file and of run.json.")
    host: str = Field("127.0.0.1", description="Address that `make run` listens on; a loopback address.")
    allow_remote: bool = Field(
        False, description="Lets `host` be an address that other machines reach. Put TLS before it."
    )
    port: int = Field(8340, ge=0, le=65535, description="Port that `make run` listens on; 0 = a free one.")
    threads: int = Field(8, ge=1, le=64, description="Requests that `make run` works on at the same time.")
    public_url: Url | None = Field(
        None, description="URL by which clients reach the service, if not host and port."
    )

    region: str = Field(
        "", pattern=r"^[a-z0-9-]*$", description="AWS region of tables and models; else AWS_REGION says it."
    )
    table_prefix: Prefix = Field(
        "palimpsest-", description="What the names of the DynamoDB tables begin with."
    )
    dynamodb_endpoint: Url | None = Field(None, description="URL of DynamoDB, if it is not AWS's own.")
    dynamodb_connect_timeout: Seconds = Field(1.0, description="Seconds for a connection to DynamoDB.")
    dynamodb_read_timeout: Seconds = Field(3.0, description="Seconds for one answer of DynamoDB.")
    dynamodb_attempts: Attempts = Field(8, description="How often one call to DynamoDB is tried in all.")
    queue_url: Url | None = Field(
        None,
        description="URL of the SQS FIFO queue that wakes workers; else the queue is in the data folder.",
    )
    secret: str | None = Field(
        None,
        description="Name or ARN of the Secrets Manager secret that holds the settings which are secrets, as JSON.",
    )

    search: Literal["embedded", "opensearch"] = Field(
        "embedded", description="Which search engine holds the index."
    )
    opensearch_url: Url | None = Field(None, description="URL of OpenSearch.")
    opensearch_user: str | None = Field(None, description="User name for OpenSearch.")
    opensearch_password: Secret | None = Field(None, description="Password for OpenSearch.")
    opensearch_sign: bool = Field(
        False, description="Signs requests with the AWS role (SigV4), as Amazon OpenSearch Service wants it."
    )
    opensearch_prefix: Prefix = Field("palimpsest", description="What the names of the indices begin with.")
    opensearch_connect_timeout: Seconds = Field(2.0, description="Seconds for a connection to OpenSearch.")
    opensearch_read_timeout: Seconds = Field(
        5.0, description="Seconds for an answer of OpenSearch that a person waits for."
    )
    opensearch_work_timeout: Seconds = Field(
        60.0, description="Seconds for an answer of OpenSearch to writing and to work on indices."
    )

    embedder: Literal["none", "bundled", "openai", "bedrock"] = Field(
        "none",
        description="What makes vectors of texts. `openai` is any endpoint that speaks as OpenAI's does.",
    )
    embedding_model: str | None = Field(None, description="Name of the embedding model at its provider.")
    embedding_dimension: int | None = Field(
        None, ge=1, le=16_000, description="Length of the vectors; empty = the model's own, if it is known."
    )
    embedding_url: Url | None = Field(
        None, description="Base URL of the embedding endpoint, such as https://api.openai.com/v1."
    )
    embedding_key: Secret | None = Field(None, description="API key for the embedding endpoint.")
    embedding_timeout: Seconds = Field(
        10.0, description="Seconds for one try; a request takes at most twice that, with all its tries."
    )
    embedding_attempts: Attempts = Field(3, description="How often one request for vectors is tried in all.")
    embedding_batch: int = Field(64, ge=1, le=2_048, description="Texts in one request for vectors.")
    embedding_text_bytes: int = Field(
        8_000, ge=100, le=100_000, description="How much of a text the embedding model is given, in bytes."
    )
    embedding_relevance: Cosine | None = Field(
        None, description="Cosine from which query and text are related; empty = the model's default."
    )
    embedding_duplicate: Cosine | None = Field(
        None, description="Cosine from which two texts say much the same; empty = the model's default."
    )

    oidc_issuer: ExactUrl | None = Field(None, description="OIDC provider whose tokens are accepted.")
    oidc_audience: str | None = Field(None, description="Audience that its tokens must name.")
    oidc_jwks_url: ExactUrl | None = Field(None, description="Where the provider's keys are.")
    oidc_admin_claim: str | None = Field(None, description="Claim of the token that makes an admin.")
    oidc_admin_value: str | None = Field(
        None, description="What that claim must be or hold; empty = it must be true."
    )
    oidc_create_accounts: bool = Field(
        False, description="Whether someone who signs in for the first time gets an account."
    )

    max_body_bytes: int = Field(
        6 * MEGABYTE, ge=1024, le=6 * MEGABYTE, description="Largest body of a request; Lambda takes 6 MB."
    )
    idempotency_days: int = Field(
        7, ge=1, le=90, description="Days for which a repeated request is known again."
    )
    fresh_seconds: int = Field(
        60,
        ge=0,
        le=3600,
        description="For how long new memories are looked for in the table besides the index.",
    )
    ranking: RankingWeights = Field(
        default_factory=RankingWeights, description='Weights of the ranking signals, as JSON: {"words": 0.5}.'
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="From which level our own log lines are written."
    )
    metrics: Literal["off", "emf"] = Field(
        "off", description="`emf` writes metrics as CloudWatch reads them."
    )

    @classmethod
    def from_environment(
        cls,
        environ: Mapping[str, str] = os.environ,
        secrets: Callable[[str, str], Mapping[str, str]] | None = None,
    ) -> Self:
        """The settings that `environ` states. Raises SettingsError, which names every variable that is wrong.

        `secrets` reads what is kept in the secret that PALIMPSEST_SECRET names (name or ARN, region); what `environ`
        states goes before that.
        """
        stated = stated_in(environ, PREFIX, but=OF_OTHERS)
        if "region" not in stated:
            stated["region"] = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
        if secrets is not None and (secret := stated.get("secret")):
            stated = {**_only_secrets(secrets(secret, stated["region"])), **stated}
        try:
            return cls.model_validate(stated)
        except ValidationError as error:
            raise SettingsError(
                "\n".join(_explained(one) for one in error.errors(include_input=False))
            ) from None

    @field_validator("ranking", mode="before")
    @classmethod
    def _from_json(cls, value: Any) -> Any:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ValueError("must be JSON") from error

    @model_validator(mode="after")
    def _hold_together(self) -> Self:
        problems = [*self._reachable(), *self._complete()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _reachable(self) -> list[str]:
        if self.allow_remote or is_loopback(self.host):
            return []
        advice = "set PALIMPSEST_ALLOW_REMOTE=true if that is meant."
        return [f"PALIMPSEST_HOST: other machines would reach this address: {advice}"]

    def _complete(self) -> list[str]:
        """What is chosen needs its settings."""
        needs = [
            (self.store == "dynamodb", "PALIMPSEST_STORE=dynamodb", ["region"]),
            (self.search == "opensearch", "PALIMPSEST_SEARCH=opensearch", ["opensearch_url"]),
            (self.opensearch_sign, "PALIMPSEST_OPENSEARCH_SIGN", ["region"]),
            (bool(self.opensearch_user), "PALIMPSEST_OPENSEARCH_USER", ["opensearch_password"]),
            (self.opensearch_password is not None, "PALIMPSEST_OPENSEARCH_PASSWORD", ["opensearch_user"]),
            (self.embedder == "openai", "PALIMPSEST_EMBEDDER=openai", ["embedding_model", "embedding_url"]),
            (self.embedder == "bedrock", "PALIMPSEST_EMBEDDER=bedrock", ["embedding_model", "region"]),
            (bool(self.oidc_issuer), "PALIMPSEST_OIDC_ISSUER", ["oidc_audience", "oidc_jwks_url"]),
        ]
        return [
            f"{PREFIX}{name.upper()}: {what} needs it."
            for chosen, what, names in needs
            for name in names
            if chosen and not getattr(self, name)
        ]


def secret_names() -> frozenset[str]:
    """The settings that are secrets."""
    return frozenset(
        name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)
    )


def _only_secrets(kept: Mapping[str, str]) -> Mapping[str, str]:
    """What a secret holds, which must be settings that are secrets."""
    others = sorted(set(kept) - secret_names())
    if others:
        raise SettingsError(f"{PREFIX}SECRET: it holds {others[0]}, which is no setting that is a secret.")
    return kept


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _explained(error: Any) -> str:
    """One error of pydantic as a line that names the variable."""
    message = error["msg"].removeprefix("Value error, ")
    if not error["loc"]:
        return str(message)
    name = f"{PREFIX}{str(error['loc'][0]).upper()}"
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        known = [f"{PREFIX}{field.upper()}" for field in Settings.model_fields]
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)
        return f"{name}: there is no such setting. Is {nearest[0]} meant?"
    inside = ".".join(str(part) for part in error["loc"][1:])
    return f"{name}: {f'{inside}: ' if inside else ''}{message}"
