"""`python -m infra.local`: the whole service here, until Ctrl-C (`make run`)."""

import os
import sys
import threading
from contextlib import suppress

from infra.local.ending import Ending

# Before the libraries load: the bundled embedder's threads must sleep, not spin, between texts; and BLAS's threads only
# wait on one another where requests already run side by side.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> int:
    """Run it; 0 after Ctrl-C or SIGTERM, 1 with plain sentences when it cannot start."""
    ending = Ending()
    ending.listen()
    try:
        return _run(ending)
    except KeyboardInterrupt:
        _say("\nStopped before it was ready.")
        # If it broke into code that was made by exec (as dataclasses are), the interpreter holds it for unhandled until
        # the next exec, and would die of SIGINT at its end.
        exec("")  # noqa: S102 - a constant
        return 0
    finally:
        ending.over()


def _run(ending: Ending) -> int:
    from chalicelib.errors import DataFolderError, EmbeddingError, SearchIndexError, StoreError
    from chalicelib.observability import configure
    from chalicelib.settings import Settings, SettingsError
    from infra.local.cannot_start import CannotStartError
    from infra.local.service import LocalService, with_laptop_defaults

    try:
        settings = with_laptop_defaults(Settings.from_environment())
        configure(level=settings.log_level, metrics=settings.metrics)
        with LocalService(settings) as service:
            _say(service.start())
            service.serve(ending)
    except (CannotStartError, DataFolderError, EmbeddingError, SettingsError) as error:
        print(error, file=sys.stderr)
        return 1
    except (SearchIndexError, StoreError) as error:
        print(f"The data cannot be used: {error}. Mend that, and start again.", file=sys.stderr)
        return 1
    _say("\nStopped; the data stay.")
    return 0


def _say(text: str) -> None:
    """To the person at the terminal, who may have closed it."""
    with suppress(OSError):
        print(text, flush=True)


def _leave(code: int) -> None:
    """End the process. Threads that are still inside a library of C must not see the interpreter go: it would crash."""
    if any(thread.daemon and thread is not threading.current_thread() for thread in threading.enumerate()):
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _leave(main())
