"""The search engines that a bench runs on: the embedded one, and a real OpenSearch node of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests import shared_services

ENGINES = ("embedded", "opensearch")


@contextmanager
def engine(name: str, own: str | None = None) -> Iterator[dict[str, str]]:
    """The environment that makes the service use this engine, which runs inside the block. `own`: the URL of an empty
    OpenSearch that runs already, to be taken in its place.

    Raises NotThereError when OpenSearch is not set up.
    """
    if name == "embedded":
        yield {"PALIMPSEST_SEARCH": "embedded"}
        return
    if own is not None:
        yield {"PALIMPSEST_SEARCH": "opensearch", "PALIMPSEST_OPENSEARCH_URL": own}
        return
    folder = shared_services.begin_run()
    os.environ.setdefault(
        "OS_PROFILE", "full"
    )  # read by infra/local/opensearch-node: stock flags, not a fast start
    try:
        url = shared_services.opensearch(folder, required=True)
        yield {"PALIMPSEST_SEARCH": "opensearch", "PALIMPSEST_OPENSEARCH_URL": url}
    finally:
        shared_services.end_run(folder)


def chosen(name: str) -> tuple[str, ...]:
    """`both` means both, in order."""
    return ENGINES if name == "both" else (name,)
