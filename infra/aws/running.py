"""A deployment that runs, as whoever deployed it sees it: its first admin's key is made here, by their credentials, so
that no door of the service ever gives one to nobody."""

import json

import urllib3

from chalicelib.bootstrap import Services, build, parts_of
from chalicelib.errors import StoreError
from chalicelib.settings import PREFIX, Settings
from infra.aws.deployment import Deployment
from infra.founding import key_of_first_admin

NOWHERE = "http://127.0.0.1:9"
"""Neither index nor queue is asked for anything here."""
HEALTH_S = 60.0


def first_key(wanted: Deployment, region: str) -> str | None:
    """The first admin's key, if there was nobody yet. Raises StoreError."""
    services = _services(wanted, region)
    return None if services.founding.founded() else _key(services)


def another_key(wanted: Deployment, region: str) -> str:
    """Another key of the first admin. Raises StoreError."""
    return _key(_services(wanted, region))


def not_working(url: str) -> str | None:
    """What of a deployment does not work, by its own health; None when all does."""
    try:
        pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=5.0, read=HEALTH_S), retries=False)
        answer = pool.request("GET", f"{url}/v1/health")
        parts = json.loads(answer.data)["parts"]
    except (urllib3.exceptions.HTTPError, ValueError, KeyError, TypeError) as error:
        return f"its health is not told ({type(error).__name__})"
    faults = [f"{part} {state}" for part, state in parts.items() if state not in {"ok", "off"}]
    return ", ".join(faults) or None


def _services(wanted: Deployment, region: str) -> Services:
    """With the model that the deployment uses: a space that is made here counts as embedded with it."""
    given = {
        "STORE": "dynamodb",
        "TABLE_PREFIX": wanted.table_prefix,
        "SEARCH": "opensearch",
        "OPENSEARCH_URL": NOWHERE,
        "OPENSEARCH_SIGN": "false",
        "QUEUE_URL": NOWHERE,
    }
    stated = dict(wanted.environment) | {f"{PREFIX}{name}": value for name, value in given.items()}
    stated.pop(f"{PREFIX}OPENSEARCH_USER", None)
    settings = Settings.from_environment(stated | {"AWS_REGION": region})
    return build(settings, parts_of(settings))


def _key(services: Services) -> str:
    key = key_of_first_admin(services, "Key of the operator")
    if key is None:
        raise StoreError("No admin's account is enabled, so no key can be made.")
    return key
