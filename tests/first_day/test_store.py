"""A machine without a network whose store is full, and a store that two users share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.replacing import replace
from tests.support import store
from tests.support.first_users import FirstUser, give, others
from tests.support.installed import Finished
from tests.support.no_network import without_network

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def users(programs: None) -> Iterator[tuple[FirstUser, ...]]:
    """Give an owner and a guest, who have no network and the cache folder of the owner, which is full."""
    with others(["owner", "guest"]) as users:
        owner, _ = users
        shared = owner.home.parent / "shared"
        store.fill(shared / "kwokctl")
        give(shared, owner)
        alone = tuple(without_network())
        settings = {"XDG_CACHE_HOME": str(shared)}
        yield tuple(replace(user, by=(*alone, *user.by), settings=settings) for user in users)


@pytest.fixture
def owner(users: tuple[FirstUser, ...]) -> FirstUser:
    return users[0]


@pytest.fixture
def guest(users: tuple[FirstUser, ...]) -> FirstUser:
    return users[1]


@pytest.fixture
def shared(owner: FirstUser) -> Path:
    return Path(owner.settings["XDG_CACHE_HOME"])


def in_one_network(user: FirstUser, *commands: str) -> Finished:
    """Run commands of one cluster: each other command has a network of its own."""
    return user.run("sh", "-c", " && ".join(f"kwokctl {command}" for command in commands))


def test_with_a_full_store_a_cluster_needs_no_network(owner: FirstUser) -> None:
    done = in_one_network(
        owner, "create cluster --nodes 2 --pods 2 --wait", "kubectl get nodes", "delete cluster"
    )

    assert done.code == 0, done.err
    assert done.out.count(" Ready ") == 2
    assert "Traceback" not in done.err


def test_a_guest_has_clusters_of_a_store_that_only_the_owner_may_write_to(
    guest: FirstUser, shared: Path
) -> None:
    assert shared.stat().st_uid != guest.home.stat().st_uid
    before = {*shared.rglob("*")}

    done = in_one_network(
        guest, "create cluster --nodes 2 --pods 2 --wait", "kubectl get nodes -o name", "stop cluster",
        "start cluster --wait", "doctor", "artifacts list", "delete cluster",
    )  # fmt: skip

    assert done.code == 0, done.out + done.err
    assert done.out.count("node/") == 2
    assert "this user cannot add programs" in done.out
    assert {*shared.rglob("*")} == before


def test_a_guest_who_needs_more_is_told_whom_to_ask(guest: FirstUser, shared: Path) -> None:
    done = guest.run("kwokctl", "create", "cluster", "--kube-version", "v1.35.4")

    assert done.code == 1
    assert "v1.35.4 is not in the store, and this user may not write to" in done.err
    assert f"'{shared}/kwokctl/store" in done.err
    assert "its owner adds what is missing with 'kwokctl artifacts pull'" in done.err
    assert "XDG_CACHE_HOME" in done.err
    assert "Traceback" not in done.err


def test_a_guest_removes_nothing(guest: FirstUser, shared: Path) -> None:
    before = {*shared.rglob("*")}

    done = guest.run("kwokctl", "artifacts", "prune", "--all", "--yes")

    assert done.code == 1
    assert "error: " in done.err
    assert "Traceback" not in done.err
    assert {*shared.rglob("*")} == before


@pytest.mark.parametrize("source", ["auto", "offline"])
def test_a_store_that_is_closed_to_a_guest_is_not_taken_for_an_empty_one(
    guest: FirstUser, shared: Path, source: str
) -> None:
    place = shared / "kwokctl"
    place.chmod(0o700)
    try:
        done = guest.run("kwokctl", "create", "cluster", "--artifact-source", source)
    finally:
        place.chmod(0o755)

    assert done.code == 1
    assert f"the store in '{place}' cannot be read by this user" in done.err
    assert f"chmod -R go+rX {place}" in done.err
