"""The parts of an installation without its service: by the settings in the environment, or the data folder that is here.

For what must be done when the service does not answer, or is not there yet.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from chalicelib.bootstrap import Services, build, parts_of, utc_now
from chalicelib.errors import DataFolderError, EmbeddingError, SearchIndexError, StoreError
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from infra.cli.failures import CommandError


class NothingHereError(CommandError):
    """Neither settings nor a data folder name an installation."""


@contextmanager
def opened() -> Iterator[Services]:
    """The use cases of the installation that is named here; its data folder is held meanwhile.

    Raises NothingHereError, SettingsError, CommandError (the data folder is in use, or cannot be used; inside the
    block: a part does not answer)."""
    from infra.local.service import with_laptop_defaults

    settings = with_laptop_defaults(Settings.from_environment())
    with ExitStack() as stack:
        try:
            services = _built(settings, stack)
            yield services
        except (DataFolderError, EmbeddingError, SearchIndexError, StoreError) as error:
            raise CommandError(str(error) or type(error).__name__) from error


def _built(settings: Settings, stack: ExitStack) -> Services:
    from infra.local.data_folder import DataFolder
    from infra.local.service import writable

    if not (settings.data / "palimpsest.sqlite").exists():
        if settings.store == "sqlite":
            raise NothingHereError(
                f"There is no installation here: no data in {settings.data}, and no PALIMPSEST_STORE that names others."
            )
        database = Database()  # what waits in a queue of this folder is nothing
        stack.callback(database.close)
        return build(settings, parts_of(settings, database))
    folder = DataFolder(settings.data)
    stack.callback(folder.close)
    database = Database(folder.database)
    stack.callback(database.close)
    built = build(settings, parts_of(settings, database), utc_now)
    return replace(built, diagnosis=replace(built.diagnosis, writable=partial(writable, folder, database)))
