"""What tests of all units may ask for."""

import io
import logging
from collections.abc import Iterator

import pytest

from chalicelib.observability import OURS, configure


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """What was written; the logging of the test run is as before afterwards."""
    names = ("", *OURS, "palimpsest.metrics")
    before = {name: (logging.getLogger(name).handlers[:], logging.getLogger(name).level) for name in names}
    stream = io.StringIO()
    configure(stream=stream, metrics="emf")
    yield stream
    for name, (handlers, level) in before.items():
        logging.getLogger(name).handlers[:] = handlers
        logging.getLogger(name).setLevel(level)
    logging.getLogger("palimpsest.metrics").propagate = True
