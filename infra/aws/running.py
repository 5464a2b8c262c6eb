"""A deployment that runs, as whoever deployed it sees it: its first admin's key is made here, by their credentials, so
that no door of the service ever gives one to nobody."""

from chalicelib.bootstrap import build, parts_of
from chalicelib.errors import StoreError
from chalicelib.settings import Settings
from infra.aws.deployment import Deployment
from infra.founding import key_of_first_admin

NO_INDEX = "http://127.0.0.1:9"
"""Nothing is searched for here."""


def first_key(wanted: Deployment, region: str, *, anew: bool) -> str | None:
    """The first admin's key, if there was nobody yet or another one is asked for. Raises StoreError."""
    settings = Settings(
        store="dynamodb",
        region=region,
        table_prefix=wanted.table_prefix,
        search="opensearch",
        opensearch_url=NO_INDEX,
        queue_url=NO_INDEX,
    )
    services = build(settings, parts_of(settings))
    if services.founding.founded() and not anew:
        return None
    key = key_of_first_admin(services, "Key of the operator")
    if key is None:
        raise StoreError("No admin's account is enabled, so no key can be made.")
    return key
