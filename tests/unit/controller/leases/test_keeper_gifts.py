"""Leases that a keeper gives away, and that are given to it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from kwokctl.controller.leases.holder import LABEL, MOVED
from kwokctl.controller.leases.sharing import Alone
from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES
from tests.support.lease_rig import BUSY, Rig
from tests.support.virtual_time import run


class Generous(Alone):
    """Gives one lease to another controller as soon as there is one to give."""

    is_shared = True

    def __init__(self) -> None:
        self.gifts = 0

    def recipient(self) -> str:
        self.gifts, was = 0, self.gifts
        return "other_2" if was else ""


def story(test: Callable[[Rig, Generous], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        sharing = Generous()
        rig = Rig(sharing=sharing)
        async with rig.running():
            rig.keeper.want("n", "u", can_wait=False)
            await asyncio.sleep(0.1)
            await test(rig, sharing)

    run(whole())


def labels(rig: Rig) -> dict[str, str]:
    found: dict[str, str] = rig.cluster.object(LEASES, "n", NODE_LEASES)["metadata"].get(
        "labels", {}
    )
    return found


def test_a_lease_is_given_away_in_place_of_its_renewal() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        sharing.gifts = 1
        await asyncio.sleep(11)

        assert rig.spec()["holderIdentity"] == "other_2"
        assert rig.spec()["leaseTransitions"] == 0
        assert labels(rig) == {LABEL: MOVED}
        assert rig.cluster.verbs("replace") == ["n"]
        assert rig.changes == [("n", Hold.HELD), ("n", Hold.FOREIGN)]


def test_a_node_is_left_alone_before_its_lease_is_given_away() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        seen: list[Hold] = []

        def before(_: ObjectKey) -> None:
            seen.append(rig.changes[-1][1])

        rig.cluster.before_write = before
        sharing.gifts = 1
        await asyncio.sleep(11)

        assert seen == [Hold.FOREIGN]


@pytest.mark.parametrize(
    "error", [BUSY, ApiError("the object has been modified", status=409, reason="Conflict")]
)
def test_a_gift_that_fails_is_looked_at_and_kept(error: ApiError) -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        sharing.gifts = 1
        rig.cluster.refuse.append(error)
        await asyncio.sleep(30)

        assert [hold for _, hold in rig.changes] == [Hold.HELD, Hold.FOREIGN, Hold.HELD]
        assert rig.spec()["holderIdentity"] == "me_1"
        assert rig.spec()["leaseTransitions"] == 0


def test_a_lease_that_is_given_is_held_at_once_and_renewed_in_time() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        sharing.gifts = 1
        await asyncio.sleep(11)
        rig.cluster.writes.clear()

        rig.keeper.heard(stored(rig, holder="me_1", transitions=2))

        assert rig.changes[-1] == ("n", Hold.HELD)
        assert rig.cluster.writes == []
        await asyncio.sleep(11)
        assert rig.cluster.verbs("replace") == ["n"]
        assert rig.spec()["leaseTransitions"] == 2
        assert labels(rig) == {}


def test_a_list_from_before_the_gift_is_not_believed() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        before = rig.raw()
        sharing.gifts = 1
        await asyncio.sleep(11)

        rig.keeper.listed(before)
        await asyncio.sleep(5)

        assert rig.changes[-1] == ("n", Hold.FOREIGN)
        assert rig.spec()["holderIdentity"] == "other_2"


def test_a_lease_that_another_controller_has_taken_is_let_go_when_that_is_heard() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        rig.keeper.heard(stored(rig, holder="other_2", transitions=1))

        assert rig.changes[-1] == ("n", Hold.FOREIGN)


def test_a_lease_is_announced_when_it_is_made_and_not_when_it_is_renewed() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        assert labels(rig) == {LABEL: MOVED}
        await asyncio.sleep(11)
        assert labels(rig) == {}


def stored(rig: Rig, *, holder: str, transitions: int) -> StoredLease:
    """Have another controller write the lease, and return it."""
    rig.foreign(age=0, holder=holder)
    spec = {"leaseTransitions": transitions}
    rig.cluster.change(LEASES, "n", NODE_LEASES, spec=spec, metadata={"labels": {LABEL: MOVED}})
    return read_lease(orjson.dumps(rig.cluster.object(LEASES, "n", NODE_LEASES)))


def test_a_gift_counts_more_than_an_older_list_of_leases() -> None:
    @story
    async def _(rig: Rig, sharing: Generous) -> None:
        rig.keeper.forget("n")
        rig.foreign(age=0)
        before = rig.raw()
        rig.keeper.heard(stored(rig, holder="me_1", transitions=1))
        rig.keeper.seed(before)
        rig.keeper.want("n", "u", can_wait=False)

        assert rig.changes[-1] == ("n", Hold.HELD)
        await asyncio.sleep(11)
        assert rig.spec()["leaseTransitions"] == 1
