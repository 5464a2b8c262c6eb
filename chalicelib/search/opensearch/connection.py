"""The one kind of connection that is used. Importing this imports opensearch-py."""

import gzip
from typing import Any

from opensearchpy.connection import Urllib3HttpConnection

COMPRESSED_FROM = 65_536
"""Bytes: what is written is compressed. A query is shorter, and compressing it costs more time than it saves."""


class QuietConnection(Urllib3HttpConnection):
    """As the library's own, except that it never logs (bodies hold what people said; failures are raised, in our
    words), and that it compresses fast: the library uses the slowest level, which takes longer than the indexing.
    """

    def log_request_success(self, *_: Any, **__: Any) -> None:
        return

    def log_request_fail(self, *_: Any, **__: Any) -> None:
        return

    def _gzip_compress(self, body: bytes) -> bytes:
        return gzip.compress(body, compresslevel=1 if len(body) >= COMPRESSED_FROM else 0, mtime=0)
