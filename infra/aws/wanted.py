"""Which deployment the environment of whoever deploys states.

The service's own settings (`chalicelib.settings`) are given to its functions, except those that only a laptop has, and
secrets, which go to Secrets Manager. Whatever would keep a function from starting, or would silently do nothing, is
refused here, before anything is changed.
"""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import ValidationError

from chalicelib.bootstrap import parts_of
from chalicelib.settings import (
    FOR_DEPLOYMENT,
    OF_OTHERS,
    PREFIX,
    Settings,
    SettingsError,
    is_loopback,
    secret_names,
    stated_in,
)
from infra.aws.deployment import STATED, Deployment

LAPTOP = frozenset({"allow_remote", "data", "host", "port", "threads"})
"""Settings that only `make run` has; they are passed over."""
OURS = frozenset(
    {"dynamodb_endpoint", "metrics", "queue_url", "region", "search", "secret", "store", "table_prefix"}
)
"""Settings that the deployment gives by itself."""
OF_A_DOMAIN = ("search_gigabytes", "search_instance", "search_nodes")
URLS = ("opensearch_url", "embedding_url", "oidc_jwks_url")
"""Where functions connect to."""
SOME_DOMAIN = {"opensearch_url": "https://search.example", "opensearch_sign": "false"}
SOME_REGION = "eu-central-1"


def wanted(environ: Mapping[str, str]) -> Deployment:
    """The deployment that `environ` states. Raises SettingsError, which names every variable that is wrong."""
    own = _stated(environ, FOR_DEPLOYMENT, ())
    settings = {
        name: value for name, value in _stated(environ, PREFIX, OF_OTHERS).items() if name not in LAPTOP
    }
    problems = [*_unknown(own), *_clashes(own, settings), *_unreachable(settings, environ)]
    if problems:
        raise SettingsError("\n".join(problems))
    stated = _checked(own)
    said = (
        *(f"{PREFIX}{name.upper()}" for name in sorted(settings)),
        *(f"{FOR_DEPLOYMENT}{name.upper()}" for name in sorted(own)),
    )
    settings.setdefault("embedder", "bundled")
    settings.setdefault("opensearch_prefix", stated.name)
    read = _startable(settings)
    own_domain = "opensearch_url" not in settings
    if read.opensearch_sign and not own_domain and stated.search_arn is None:
        raise SettingsError(
            f"{FOR_DEPLOYMENT}SEARCH_ARN: PALIMPSEST_OPENSEARCH_SIGN with a URL of your own needs it."
        )
    secrets = frozenset(settings) & secret_names()
    return stated.model_copy(
        update={
            "environment": {
                f"{PREFIX}{name.upper()}": settings[name] for name in sorted(set(settings) - secrets)
            },
            "secrets": secrets,
            "stated": said,
            "own_domain": own_domain,
            "signs": own_domain or read.opensearch_sign,
            "bedrock_model": read.embedding_model if read.embedder == "bedrock" else None,
            "bundles_model": read.embedder == "bundled",
        }
    )


def _checked(own: Mapping[str, str]) -> Deployment:
    try:
        return Deployment.model_validate(own)
    except ValidationError as error:
        lines = [
            f"{FOR_DEPLOYMENT}{str(one['loc'][0]).upper()}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False)
        ]
        raise SettingsError("\n".join(lines)) from None


def _stated(environ: Mapping[str, str], prefix: str, but: tuple[str, ...]) -> dict[str, str]:
    return {name: value.strip() for name, value in stated_in(environ, prefix, but=but).items()}


def _unknown(own: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(set(own) - STATED):
        yield f"{FOR_DEPLOYMENT}{name.upper()}: there is no such setting."


def _clashes(own: Mapping[str, str], settings: Mapping[str, str]) -> Iterator[str]:
    """What a deployment sets by itself, and what would do nothing."""
    for name in sorted(OURS & set(settings)):
        yield f"{PREFIX}{name.upper()}: a deployment sets it by itself; unset it."
    if "opensearch_url" in settings:
        for name in OF_A_DOMAIN:
            if name in own:
                yield f"{FOR_DEPLOYMENT}{name.upper()}: it does nothing with PALIMPSEST_OPENSEARCH_URL."
    else:
        for name in ("opensearch_user", "opensearch_password", "opensearch_sign"):
            if name in settings:
                yield f"{PREFIX}{name.upper()}: it does nothing without PALIMPSEST_OPENSEARCH_URL."
        if "search_arn" in own:
            yield f"{FOR_DEPLOYMENT}SEARCH_ARN: it does nothing without PALIMPSEST_OPENSEARCH_URL."


def _unreachable(settings: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[str]:
    """A function reaches nothing of the machine that deploys it, unless it runs there, in an emulator."""
    if environ.get("AWS_ENDPOINT_URL"):
        return
    for name in URLS:
        if is_loopback(urlsplit(settings.get(name, "")).hostname or ""):
            yield f"{PREFIX}{name.upper()}: functions in the cloud cannot reach an address of this machine."


def _startable(settings: Mapping[str, str]) -> Settings:
    """The settings as the functions will read them. Raises SettingsError when none could start with them: all parts
    are made here, which opens no connection."""
    given = {"store": "dynamodb", "search": "opensearch", "queue_url": "https://queue.example/q.fifo"}
    domain = {} if "opensearch_url" in settings else SOME_DOMAIN
    whole = {f"{PREFIX}{name.upper()}": value for name, value in {**settings, **given, **domain}.items()}
    read = Settings.from_environment(whole | {"AWS_REGION": SOME_REGION})
    parts_of(read.model_copy(update={"opensearch_sign": False}))  # a signer would look for credentials
    return read
