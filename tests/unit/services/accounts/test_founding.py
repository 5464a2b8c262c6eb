"""The first account: there is one way to begin, and it is closed afterwards."""

import pytest

from chalicelib.errors import ConflictError
from chalicelib.services.accounts.sign_in import SignIn
from tests.unit.services.accounts.world import World


def test_the_first_account_is_an_admin_whose_key_works(world: World) -> None:
    assert not world.founding.founded()
    account, minted = world.founding.found("Owner", world.now)
    assert world.founding.founded()
    who = SignIn(world.store).authenticate(f"Bearer {minted.plain}", world.now)
    assert who.account.id == account.id
    assert who.is_admin
    assert who.scopes == {"read", "write", "admin"}


def test_there_is_no_second_first_account(world: World) -> None:
    world.founding.found("Owner", world.now)
    with pytest.raises(ConflictError):
        world.founding.found("Intruder", world.now)


def test_an_operator_who_lost_the_key_gets_another(world: World) -> None:
    account, first = world.founding.found("Owner", world.now)
    second = world.founding.new_key(account, "Laptop", world.now)
    for minted in (first, second):
        assert SignIn(world.store).authenticate(f"Bearer {minted.plain}", world.now).is_admin
    assert [entry.op for entry in world.told()] == ["account.found", "key.issue"]
    assert first.plain not in repr(world.told())
