"""What a search costs the search engine alone: its words and its meaning, asked without the product.

The same two queries that the product sends for memories without context, over a kept connection, with nothing before or
after them: as the engine's own `hybrid` query, and as two that nobody fuses.
"""

import http.client
import json
import time
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

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
_JSON = {"Content-Type": "application/json"}
FUSION = {
    "phase_results_processors": [
        {
            "normalization-processor": {
                "normalization": {"technique": "min_max"},
                "combination": {"technique": "arithmetic_mean"},
            }
        }
    ]
}
"""How the engine makes one order of both: as its documentation recommends."""


class TwoLegs:
    """Asks the engine at `url` for the personal space of `account`."""

    def __init__(self, url: str, account: str, prefix: str = "palimpsest") -> None:
        address = urlsplit(url)
        self._http = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
        self._names = Names(prefix)
        self._embedder = InstantEmbedder()
        self._model = self._embedder.model.fingerprint
        self.fuses = self._knows("hybrid")
        self._scope = Scope(
            actor=Actor(kind="person", id=account),
            space=Space.personal(account),
            rights=frozenset({Right.READ}),
            place="cli",
        )

    def fused(self, query: str) -> float:
        """How long the engine takes for its own `hybrid` query of both: one ranked answer. Raises OSError, or
        RuntimeError when it refuses."""
        words, meaning = (json.loads(body) for _, body in self._legs(query))
        meaning["query"]["knn"]["meaning"]["ignore_unmapped"] = True  # words and vectors are two indices
        both = {"hybrid": {"queries": [words.pop("query"), meaning["query"]]}}
        body = json.dumps({**words, "query": both, "search_pipeline": FUSION})
        where = f"{self._names.words()},{self._names.vectors(self._model)}"
        routing = urlencode(queries.parameters(self._scope))
        return self._ask(f"/{where}/_search?{routing}", body, _JSON)

    def unfused(self, query: str) -> float:
        """How long it takes for both, sent together and answered one by one. Raises as `fused`."""
        body = "".join(f"{line}\n" for leg in self._legs(query) for line in leg)
        return self._ask("/_msearch", body, {"Content-Type": "application/x-ndjson"})

    def _knows(self, query: str) -> bool:
        """Whether the engine has this kind of query: a plugin of its own brings it."""
        self._http.request(
            "POST",
            "/_validate/query",
            json.dumps({"query": {query: {"queries": [{"match_all": {}}]}}}),
            _JSON,
        )
        answer = self._http.getresponse()
        return bool(json.loads(answer.read()).get("valid"))

    def _legs(self, query: str) -> list[tuple[str, str]]:
        """Of each leg where it goes, and what is asked."""
        scope, names, wanted = self._scope, self._names, MemoryFilter()
        vector = vector_json(self._embedder.query(query))
        [words] = queries.by_words(scope, "words", text.stems(query), wanted, DEPTH, ())
        meaning = queries.by_meaning(scope, "meaning", vector, wanted, DEPTH, ())
        return [
            (queries.header(scope, names.words()), words),
            (queries.header(scope, names.vectors(self._model)), meaning),
        ]

    def _ask(self, path: str, body: str, headers: Mapping[str, str]) -> float:
        began = time.perf_counter()
        self._http.request("POST", path, body.encode(), headers)
        answer = self._http.getresponse()
        raw = answer.read()
        taken = time.perf_counter() - began
        if answer.status != 200 or b'"error"' in raw:
            raise RuntimeError(f"the engine answered {answer.status}: {raw[:300]!r}")
        return taken
