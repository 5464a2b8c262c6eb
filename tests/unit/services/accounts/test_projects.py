"""Projects: members see them, makers and admins manage them, admins alone switch the pool (M6)."""

from typing import Any

import pytest

from chalicelib.domain.account_drafts import NewMember, NewProject, ProjectEdit
from chalicelib.errors import ConflictError, ForbiddenError, NotFoundError, UnauthenticatedError
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.ledger import CHUNK, TRIES
from tests.unit.services.accounts.world import World, but


def ids(page: dict[str, Any], field: str = "id") -> list[str]:
    return [item[field] for item in page["items"]]


def everyone(world: World, who: Caller) -> list[str]:
    return ids(world.projects.listed(who, limit=200, cursor=None))


def test_a_person_makes_a_project_and_is_its_first_member(world: World) -> None:
    anna = world.person("anna")
    made = world.projects.create(anna, NewProject(name="Garden"), world.request())["project"]
    assert (made["name"], made["pool"], made["created_by"]) == ("Garden", False, "acc_anna")
    assert world.projects.get(anna, made["id"]) == {"project": made}
    assert ids(world.projects.members(anna, made["id"], limit=10, cursor=None), "account") == ["acc_anna"]


def test_only_an_admin_makes_a_project_with_its_pool_on(world: World) -> None:
    root = world.person("root", admin=True)
    assert (
        world.projects.create(root, NewProject(name="x", pool=True), world.request())["project"]["pool"]
        is True
    )
    for who in (world.person("anna"), but(root, scopes={"read", "write"})):
        with pytest.raises(ForbiddenError):
            world.projects.create(who, NewProject(name="x", pool=True), world.request())


def test_the_repeat_of_a_request_makes_no_second_project(world: World) -> None:
    anna = world.person("anna")
    first = world.projects.create(anna, NewProject(name="Garden"), world.request("k"))
    assert world.projects.create(anna, NewProject(name="Garden"), world.request("k")) == first
    assert len(everyone(world, anna)) == 1


def test_a_foreign_project_does_not_exist(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    world.project("garden", anna)
    for project in ("garden", "nothing"):
        for ask in (
            lambda p=project: world.projects.get(berta, p),
            lambda p=project: world.projects.members(berta, p, limit=10, cursor=None),
            lambda p=project: world.projects.edit(berta, p, ProjectEdit(name="x"), world.request()),
            lambda p=project: world.projects.edit(berta, p, ProjectEdit(pool=True), world.request()),
            lambda p=project: world.projects.delete(berta, p, world.request()),
            lambda p=project: world.projects.add_member(
                berta, p, NewMember(account="acc_berta"), world.request()
            ),
            lambda p=project: world.projects.remove_member(berta, p, "acc_anna", world.request()),
        ):
            with pytest.raises(NotFoundError, match="no such project"):
                ask()
    assert everyone(world, berta) == []
    assert world.store.commits == 0


def test_each_sees_their_own_projects_and_an_admin_all(world: World) -> None:
    anna, berta, root = world.person("anna"), world.person("berta"), world.person("root", admin=True)
    world.project("garden", anna)
    world.project("kitchen", anna, berta)
    assert everyone(world, anna) == ["garden", "kitchen"]
    assert everyone(world, berta) == ["kitchen"]
    assert everyone(world, root) == ["garden", "kitchen"]
    assert everyone(world, but(root, scopes={"read", "write"})) == []
    assert world.projects.get(root, "garden")["project"]["id"] == "garden"


def test_lists_come_in_pages(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    for name in ("a", "b", "c"):
        world.project(name, anna)
    for who in (anna, root):
        first = world.projects.listed(who, limit=2, cursor=None)
        second = world.projects.listed(who, limit=2, cursor=first["next"])
        assert (ids(first), ids(second), second["next"]) == (["a", "b"], ["c"], None)


def test_a_maker_renames_and_a_plain_member_does_not(world: World) -> None:
    anna, berta, root = world.person("anna"), world.person("berta"), world.person("root", admin=True)
    world.project("garden", anna, berta)
    after = world.projects.edit(anna, "garden", ProjectEdit(name="Orchard", version=1), world.request("k"))
    assert (after["project"]["name"], after["project"]["version"]) == ("Orchard", 2)
    assert (
        world.projects.edit(anna, "garden", ProjectEdit(name="Orchard", version=1), world.request("k"))
        == after
    )
    world.projects.edit(root, "garden", ProjectEdit(name="Park"), world.request())
    with pytest.raises(ForbiddenError):
        world.projects.edit(berta, "garden", ProjectEdit(name="Mine"), world.request())


def test_only_an_admin_switches_the_pool(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    world.project("garden", anna, pool=False)
    with pytest.raises(ForbiddenError):
        world.projects.edit(anna, "garden", ProjectEdit(pool=True), world.request())
    assert (
        world.projects.edit(root, "garden", ProjectEdit(pool=True), world.request())["project"]["pool"]
        is True
    )
    with pytest.raises(ForbiddenError):
        world.projects.edit(anna, "garden", ProjectEdit(name="x", pool=False), world.request())
    assert world.told()[0].details["pool"] is True


def test_a_stale_version_is_refused_with_the_current_state(world: World) -> None:
    anna = world.person("anna")
    world.project("garden", anna)
    current = world.projects.edit(anna, "garden", ProjectEdit(name="Orchard"), world.request())["project"]
    for ask in (
        lambda: world.projects.edit(anna, "garden", ProjectEdit(name="x", version=1), world.request()),
        lambda: world.projects.delete(anna, "garden", world.request(), version=1),
    ):
        with pytest.raises(ConflictError) as refused:
            ask()
        assert refused.value.details["current"] == current


def test_an_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    anna = world.person("anna")
    world.project("garden", anna)
    world.projects.edit(anna, "garden", ProjectEdit(name="GARDEN"), world.request())
    assert world.store.commits == 0


def test_a_member_is_added_by_the_maker_or_an_admin_only(world: World) -> None:
    anna, berta, root = world.person("anna"), world.person("berta"), world.person("root", admin=True)
    world.account("carl")
    world.account("dana")
    world.project("garden", anna, berta)
    answer = world.projects.add_member(anna, "garden", NewMember(account="acc_carl"), world.request("k"))
    assert answer["member"]["account"] == "acc_carl"
    assert (
        world.projects.add_member(anna, "garden", NewMember(account="acc_carl"), world.request("k")) == answer
    )
    assert world.projects.add_member(anna, "garden", NewMember(account="acc_carl"), world.request()) == answer
    world.projects.add_member(root, "garden", NewMember(account="acc_dana"), world.request())
    with pytest.raises(ForbiddenError):
        world.projects.add_member(berta, "garden", NewMember(account="acc_dana"), world.request())
    members = ids(world.projects.members(berta, "garden", limit=10, cursor=None), "account")
    assert members == ["acc_anna", "acc_berta", "acc_carl", "acc_dana"]


def test_nobody_who_does_not_exist_becomes_a_member(world: World) -> None:
    anna = world.person("anna")
    world.project("garden", anna)
    with pytest.raises(NotFoundError, match="account"):
        world.projects.add_member(anna, "garden", NewMember(account="acc_nobody"), world.request())


def test_a_member_is_removed_at_once_and_may_leave(world: World) -> None:
    anna, berta, carl = world.person("anna"), world.person("berta"), world.person("carl")
    world.project("garden", anna, berta, carl)
    answer = world.projects.remove_member(anna, "garden", "acc_carl", world.request("k"))
    assert answer == {"deleted": {"project": "garden", "account": "acc_carl"}}
    assert world.projects.remove_member(anna, "garden", "acc_carl", world.request("k")) == answer
    assert everyone(world, carl) == []
    with pytest.raises(ForbiddenError):
        world.projects.remove_member(berta, "garden", "acc_anna", world.request())
    world.projects.remove_member(berta, "garden", "acc_berta", world.request())
    assert everyone(world, berta) == []
    with pytest.raises(NotFoundError, match="member"):
        world.projects.remove_member(anna, "garden", "acc_berta", world.request())


def test_a_maker_who_left_manages_no_more(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    world.project("garden", anna, berta)
    world.projects.remove_member(anna, "garden", "acc_anna", world.request())
    with pytest.raises(NotFoundError):
        world.projects.edit(anna, "garden", ProjectEdit(name="x"), world.request())


def test_two_who_add_members_at_once_both_succeed(world: World) -> None:
    anna = world.person("anna")
    world.account("berta")
    world.account("carl")
    world.project("garden", anna)
    world.store.meanwhile.append(
        lambda: world.projects.add_member(anna, "garden", NewMember(account="acc_berta"), world.request())
    )
    world.projects.add_member(anna, "garden", NewMember(account="acc_carl"), world.request())
    assert len(world.store.members("garden")) == 3


def test_nobody_joins_a_project_while_it_is_deleted(world: World) -> None:
    anna = world.person("anna")
    world.account("berta")
    world.project("garden", anna)
    world.store.meanwhile.append(lambda: world.projects.delete(anna, "garden", world.request()))
    with pytest.raises(NotFoundError):
        world.projects.add_member(anna, "garden", NewMember(account="acc_berta"), world.request())
    assert world.store.members("garden") == []


def test_a_project_that_is_deleted_while_others_join_is_gone_with_all_its_members(world: World) -> None:
    anna = world.person("anna")
    world.account("berta")
    world.project("garden", anna)
    world.store.meanwhile.append(
        lambda: world.projects.add_member(anna, "garden", NewMember(account="acc_berta"), world.request())
    )
    world.projects.delete(anna, "garden", world.request())
    assert world.store.members("garden") == []
    assert world.store.project("garden") is None


def test_a_large_project_is_deleted_whole(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    others = [world.person(f"n{number}") for number in range(2 * CHUNK)]
    world.project("garden", anna, *others[:CHUNK])
    for other in others[CHUNK:]:
        world.projects.add_member(anna, "garden", NewMember(account=other.account.id), world.request())
    answer = world.projects.delete(root, "garden", world.request("k"))
    assert answer == {"deleted": {"project": "garden"}}
    assert world.projects.delete(root, "garden", world.request("k")) == answer
    assert world.store.members("garden") == []
    assert everyone(world, others[7]) == []
    with pytest.raises(NotFoundError):
        world.projects.delete(root, "garden", world.request())


def test_a_plain_member_deletes_nothing(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    world.project("garden", anna, berta)
    with pytest.raises(ForbiddenError):
        world.projects.delete(berta, "garden", world.request())


def test_a_membership_that_outlived_its_project_shows_nothing(world: World) -> None:
    anna = world.person("anna")
    world.store.remove(world.project("garden", anna))
    assert everyone(world, anna) == []


def test_a_repeat_says_when_what_was_made_is_gone_by_now(world: World) -> None:
    anna = world.person("anna")
    world.account("berta")
    made = world.projects.create(anna, NewProject(name="x"), world.request("a"))["project"]["id"]
    world.projects.add_member(anna, made, NewMember(account="acc_berta"), world.request("b"))
    world.projects.remove_member(anna, made, "acc_berta", world.request())
    with pytest.raises(NotFoundError, match="member"):
        world.projects.add_member(anna, made, NewMember(account="acc_berta"), world.request("b"))
    world.projects.delete(anna, made, world.request())
    with pytest.raises(NotFoundError, match="project"):
        world.projects.create(anna, NewProject(name="x"), world.request("a"))


def test_a_key_that_only_reads_and_a_model_change_no_projects(world: World) -> None:
    anna = world.person("anna")
    world.project("garden", anna)
    for who in (but(anna, scopes={"read"}), but(anna, acts_as="model")):
        for ask in (
            lambda who=who: world.projects.create(who, NewProject(name="x"), world.request()),
            lambda who=who: world.projects.edit(who, "garden", ProjectEdit(name="x"), world.request()),
            lambda who=who: world.projects.delete(who, "garden", world.request()),
            lambda who=who: world.projects.add_member(
                who, "garden", NewMember(account="acc_x"), world.request()
            ),
            lambda who=who: world.projects.remove_member(who, "garden", "acc_anna", world.request()),
        ):
            with pytest.raises(ForbiddenError):
                ask()
        assert everyone(world, who) == ["garden"]


def test_nobody_sees_projects(world: World) -> None:
    with pytest.raises(UnauthenticatedError):
        world.projects.listed(None, limit=1, cursor=None)
    with pytest.raises(UnauthenticatedError):
        world.projects.get(None, "garden")


def test_others_may_be_outrun_a_few_times(world: World) -> None:
    anna = world.person("anna")
    world.account("berta")
    world.project("garden", anna)

    def rename() -> None:
        there = world.store.project("garden")
        assert there is not None
        world.store.replace(there, name=f"v{there.version}")

    world.store.meanwhile += [rename] * (TRIES - 1)
    assert world.projects.add_member(anna, "garden", NewMember(account="acc_berta"), world.request())
