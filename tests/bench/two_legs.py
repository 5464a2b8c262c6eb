"""What a search costs the search engine alone: its words and its meaning, asked without the product.

The same two queries that the product sends, over a kept connection, with nothing before or after them.
"""

import http.client
import time
from urllib.parse import urlsplit

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.search import text
from chalicelib.search.opensearch import queries
from chalicelib.search.opensearch.documents import vector_json
from chalicelib.search.opensearch.layout import Names
from chalicelib.services.memory.search import Finder
from tests.bench.instant import InstantEmbedder

DEPTH = Finder.depth
"""As many hits of each as the product asks for."""
TIMEOUT_S = 60


class TwoLegs:
    """Asks the engine at `url` for the personal space of `account`."""

    def __init__(self, url: str, account: str, prefix: str = "palimpsest") -> None:
        address = urlsplit(url)
        self._http = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
        self._names = Names(prefix)
        self._embedder = InstantEmbedder()
        self._scope = Scope(
            actor=Actor(kind="person", id=account),
            space=Space.personal(account),
            rights=frozenset({Right.READ}),
            place="cli",
        )

    def seconds(self, query: str) -> float:
        """How long the engine takes. Raises OSError, or RuntimeError when it refuses."""
        scope, names, wanted = self._scope, self._names, MemoryFilter()
        vector = vector_json(self._embedder.query(query))
        lines = [queries.header(scope, names.words())]
        lines += queries.by_words(scope, "words", text.stems(query), wanted, DEPTH, ())
        lines += [queries.header(scope, names.vectors(self._embedder.model.fingerprint))]
        lines += [queries.by_meaning(scope, "meaning", vector, wanted, DEPTH, ())]
        body = "".join(f"{line}\n" for line in lines).encode()
        began = time.perf_counter()
        self._http.request("POST", "/_msearch", body, {"Content-Type": "application/x-ndjson"})
        answer = self._http.getresponse()
        raw = answer.read()
        taken = time.perf_counter() - began
        if answer.status != 200 or b'"error"' in raw:
            raise RuntimeError(f"the engine answered {answer.status}: {raw[:300]!r}")
        return taken
