"""`python -m infra.local`: the whole service here, until Ctrl-C (`make run`)."""

import os
import signal
import sys
from types import FrameType

# Before the library of the bundled embedder loads: its threads must sleep, not spin, between texts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def main() -> int:
    """Run it; 0 after Ctrl-C, 1 with one plain sentence when it cannot start."""
    from chalicelib.errors import DataFolderError, StoreError
    from chalicelib.observability import configure
    from chalicelib.settings import Settings, SettingsError
    from infra.local.banner import banner
    from infra.local.service import LocalService, with_laptop_defaults

    try:
        settings = with_laptop_defaults(Settings.from_environment())
        configure(level=settings.log_level, metrics=settings.metrics)
        service = LocalService(settings)
    except (DataFolderError, SettingsError) as error:
        print(error, file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, _end)
    try:
        running = service.start()
        print(banner(running, str(settings.data), service.services.parts.embedder), flush=True)
        service.serve()
        print("\nStopped; the data stay.", flush=True)
    except (KeyboardInterrupt, SystemExit):
        print("\nStopped before it was ready.", flush=True)
    except (DataFolderError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        service.close()
    return 0


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
