import asyncio

from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.kube.resource import LEASES, NODE_LEASES
from tests.support.lease_rig import DURATION, Rig, story

PERIOD = DURATION / 4 * 1.04
"""Seconds in which each lease is renewed at least once."""


def test_a_foreign_lease_is_left_alone_and_taken_over_when_it_has_ended() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=10)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(29)
        assert rig.changes == [("n", Hold.FOREIGN)]
        assert rig.cluster.writes == [("create", "n"), *[("get", "n")] * 3]

        await asyncio.sleep(3)
        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]
        assert rig.spec()["holderIdentity"] == "me_1"
        assert rig.spec()["leaseTransitions"] == 1


def test_a_foreign_lease_that_is_renewed_stays_foreign() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=0)
        rig.keeper.want("n", "u", can_wait=False)
        for _ in range(20):
            await asyncio.sleep(10)
            rig.foreign(age=0)

        assert rig.changes == [("n", Hold.FOREIGN)]
        assert len(rig.cluster.verbs("get")) <= 22


def test_a_foreign_lease_by_a_clock_that_is_ahead_is_taken_over_when_it_is_not_renewed() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=-3600)
        rig.keeper.want("n", "u", can_wait=False)
        for _ in range(5):
            await asyncio.sleep(DURATION - 5)
            rig.foreign(age=-3600)
        assert rig.changes == [("n", Hold.FOREIGN)]

        await asyncio.sleep(DURATION - 1)
        assert rig.changes == [("n", Hold.FOREIGN)]
        await asyncio.sleep(2 * PERIOD)

        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]


def test_an_ended_lease_is_taken_over_at_once() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=DURATION + 1)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(1)

        assert rig.changes == [("n", Hold.HELD)]
        assert rig.spec()["leaseTransitions"] == 1


def test_known_leases_are_not_requested_again() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=2, holder="me_1")
        rig.keeper.seed(rig.raw())
        rig.keeper.want("n", "u", can_wait=False)
        assert rig.changes == [("n", Hold.HELD)]

        await asyncio.sleep(12)
        assert {verb for verb, _ in rig.cluster.writes} == {"replace"}
        assert rig.spec()["leaseTransitions"] == 0


def test_a_lease_that_another_program_changed_is_read_and_renewed() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        rig.cluster.change(LEASES, "n", NODE_LEASES, metadata={"labels": {"a": "b"}})
        await asyncio.sleep(30)

        assert len(rig.cluster.verbs("get")) == 1
        assert rig.cluster.object(LEASES, "n", NODE_LEASES)["metadata"]["labels"] == {"a": "b"}
        assert rig.changes == [("n", Hold.HELD)]


def test_a_lease_that_another_program_took_is_lost() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        rig.foreign(age=0)
        await asyncio.sleep(15)

        assert rig.changes == [("n", Hold.HELD), ("n", Hold.FOREIGN)]


def test_a_lease_that_was_deleted_is_made_again() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        rig.cluster.remove(LEASES, "n", NODE_LEASES)
        await asyncio.sleep(15)

        assert len(rig.cluster.verbs("create")) == 2
        assert rig.spec()["holderIdentity"] == "me_1"
        assert rig.changes == [("n", Hold.HELD)]


def test_a_foreign_lease_that_was_deleted_is_won() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=0)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(1)
        rig.cluster.remove(LEASES, "n", NODE_LEASES)
        await asyncio.sleep(45)

        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]


def test_many_foreign_leases_are_read_with_few_lists_and_none_alone() -> None:
    @story
    async def _(rig: Rig) -> None:
        names = many(rig)
        for _ in range(20):
            await asyncio.sleep(10)
            for name in names:
                rig.foreign(age=0, name=name)

        assert {hold for _, hold in rig.changes} == {Hold.FOREIGN}
        assert rig.cluster.verbs("get") == []
        assert 15 <= len(rig.cluster.verbs("list")) <= 22


def test_many_leases_that_are_gone_are_made_after_one_list() -> None:
    @story
    async def _(rig: Rig) -> None:
        names = many(rig)
        for name in names:
            rig.cluster.remove(LEASES, name, NODE_LEASES)
        await asyncio.sleep(45)

        assert sorted(rig.cluster.verbs("create")) == sorted(names)
        assert {hold for _, hold in rig.changes[-30:]} == {Hold.HELD}
        assert rig.cluster.verbs("get") == []


def test_a_lease_that_was_given_back_long_before_its_end_is_held_within_a_renewal() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=0, duration=3600)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(60)
        assert rig.changes == [("n", Hold.FOREIGN)]

        rig.foreign(age=0, holder="me_1")
        await asyncio.sleep(PERIOD)
        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]


def test_a_foreign_lease_that_was_deleted_long_before_its_end_is_made_within_a_renewal() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=0, duration=3600)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(60)
        rig.cluster.remove(LEASES, "n", NODE_LEASES)
        await asyncio.sleep(PERIOD)

        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]
        assert rig.spec()["holderIdentity"] == "me_1"


def test_a_foreign_lease_that_was_shortened_is_taken_over_at_its_new_end() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=0, duration=3600)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(60)
        rig.foreign(age=10, duration=1)
        await asyncio.sleep(PERIOD)

        assert rig.changes == [("n", Hold.FOREIGN), ("n", Hold.HELD)]


def test_few_foreign_leases_of_a_large_fleet_are_read_by_themselves() -> None:
    @story
    async def _(rig: Rig) -> None:
        for number in range(400):
            rig.foreign(age=0, name=f"mine-{number}", holder="me_1")
        for number in range(8):
            rig.foreign(age=0, name=f"silent-{number}", duration=3600)
        rig.keeper.seed(rig.raw())
        for lease in rig.raw():
            rig.keeper.want(lease.name, "u", can_wait=False)
        await asyncio.sleep(3 * PERIOD)

        assert rig.cluster.verbs("list") == []
        assert 8 <= len(rig.cluster.verbs("get")) <= 8 * 4


def many(rig: Rig) -> list[str]:
    """Want thirty nodes whose leases another controller holds."""
    names = [f"n{number}" for number in range(30)]
    for name in names:
        rig.foreign(age=0, name=name)
    rig.keeper.seed(rig.raw())
    for name in names:
        rig.keeper.want(name, "u", can_wait=False)
    return names
