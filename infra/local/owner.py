"""The person whose laptop it is, and the key that is kept in the data folder."""

from chalicelib.bootstrap import Services
from chalicelib.errors import UnauthenticatedError
from infra.founding import key_of_first_admin
from infra.local.cannot_start import CannotStartError
from infra.local.data_folder import DataFolder


def key_of_owner(services: Services, folder: DataFolder) -> tuple[str, bool]:
    """The owner's key, and whether this is the first start. Raises StoreError, DataFolderError, CannotStartError.

    The key is kept in the folder. One that is lost, or no longer holds, is replaced. A start that was interrupted
    before the key was kept is made up for.
    """
    first = not services.founding.founded()
    kept = None if first else folder.read_key()
    if kept is not None and _holds(services, kept):
        return kept, False
    key = key_of_first_admin(services, "Key of a later start")
    if key is None:
        raise CannotStartError(
            "No admin's account is enabled, so no key can be made. Choose another data folder with PALIMPSEST_DATA."
        )
    folder.keep_key(key)
    return key, first


def _holds(services: Services, key: str) -> bool:
    try:
        services.sign_in.authenticate(f"Bearer {key}", services.clock())
    except UnauthenticatedError:
        return False
    return True
