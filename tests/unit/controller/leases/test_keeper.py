import asyncio
from collections import Counter

from kwokctl.controller.leases.holder import NODE_NAME
from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.resource import LEASES, NODE_LEASES
from tests.support.lease_rig import Rig, story
from tests.support.virtual_time import run


def test_a_wanted_node_is_held_with_one_write_and_renewed_with_one_each() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        assert rig.changes == [("n", Hold.HELD)]
        assert rig.cluster.writes == [("create", "n")]

        await asyncio.sleep(100)
        verbs = Counter(verb for verb, _ in rig.cluster.writes)
        assert verbs["create"] == 1
        assert set(verbs) == {"create", "replace"}
        assert 9 <= verbs["replace"] <= 11
        assert rig.spec()["leaseTransitions"] == 0


def test_a_short_lease_is_renewed_four_times_in_its_duration_too() -> None:
    async def whole() -> None:
        rig = Rig(duration=1)
        async with rig.running():
            rig.keeper.want("n", "u", can_wait=False)
            await asyncio.sleep(10)
            assert len(rig.cluster.verbs("replace")) >= 36

    run(whole())


def test_a_node_that_is_ready_already_is_acquired_a_little_later() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=True)
        await asyncio.sleep(1)
        assert rig.cluster.writes == []

        await asyncio.sleep(11.5)
        assert rig.changes == [("n", Hold.HELD)]
        assert rig.cluster.writes == [("create", "n")]


def test_the_first_leases_of_ready_nodes_come_as_evenly_as_their_renewals() -> None:
    @story
    async def _(rig: Rig) -> None:
        for number in range(2_000):
            rig.keeper.want(f"n{number}", f"u{number}", can_wait=True)
        await asyncio.sleep(2.25)  # renewals share moments half a second apart
        per_second = []
        for _ in range(40):
            before = len(rig.cluster.writes)
            await asyncio.sleep(1)
            per_second.append(len(rig.cluster.writes) - before)

        assert max(per_second) < 1.5 * min(per_second)
        created = rig.cluster.verbs("create")
        assert sorted(created) == sorted({f"n{number}" for number in range(2_000)})
        assert set(Counter(rig.cluster.verbs("replace")).values()) <= {2, 3}


def test_a_lease_that_was_hurried_is_renewed_before_it_ends() -> None:
    async def whole() -> None:
        rig = Rig(duration=1)
        async with rig.running():
            rig.keeper.want("n", "u", can_wait=True)
            rig.keeper.hurry("n")
            await asyncio.sleep(0.9)
            assert len(rig.cluster.verbs("replace")) >= 2

    run(whole())


def test_a_ready_node_is_held_at_once_when_there_is_something_to_do_on_it() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=True)
        rig.keeper.hurry("n")
        rig.keeper.hurry("n")
        await asyncio.sleep(0.1)
        assert rig.changes == [("n", Hold.HELD)]

        rig.keeper.hurry("n")
        await asyncio.sleep(0.1)
        assert rig.cluster.writes == [("create", "n")]


def test_one_s_own_lease_of_a_ready_node_is_gone_on_with_at_once() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(holder="me_1", age=1)
        rig.keeper.seed(rig.raw())
        rig.keeper.want("n", "u", can_wait=True)
        assert rig.changes == [("n", Hold.HELD)]


def test_one_s_own_lease_of_a_node_whose_kubelet_is_back_is_renewed_at_once() -> None:
    for at_once, writes in ((True, 1), (False, 0)):

        @story
        async def _(rig: Rig, *, at_once: bool = at_once, writes: int = writes) -> None:
            rig.foreign(holder="me_1", age=1)
            rig.keeper.seed(rig.raw())
            rig.keeper.want("n", "u", can_wait=False, at_once=at_once)
            await asyncio.sleep(1)
            assert len(rig.cluster.verbs("replace")) == writes


def test_thousands_of_nodes_are_renewed_evenly_through_four_renewals() -> None:
    @story
    async def _(rig: Rig) -> None:
        for number in range(3_000):
            rig.keeper.want(f"n{number}", f"u{number}", can_wait=False)
        per_second = []
        for _ in range(50):
            before = len(rig.cluster.writes)
            await asyncio.sleep(1)
            per_second.append(len(rig.cluster.writes) - before)

        assert len(rig.cluster.verbs("create")) == 3_000
        renewals = Counter(rig.cluster.verbs("replace"))
        assert len(renewals) == 3_000
        assert 3 <= min(renewals.values()) <= max(renewals.values()) <= 6
        steady = per_second[-20:]
        assert max(steady) < 1.3 * min(steady)


def test_an_own_expired_lease_is_renewed_without_a_transition() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=1000, holder="me_1")
        rig.keeper.seed(rig.raw())
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(1)

        assert rig.changes == [("n", Hold.HELD)]
        assert rig.spec()["leaseTransitions"] == 0


def test_the_lease_of_a_node_that_is_gone_is_forgotten() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(1)
        rig.keeper.forget("n")
        await asyncio.sleep(100)

        assert rig.cluster.writes == [("create", "n")]


def test_a_node_that_goes_while_its_lease_is_written_is_not_held() -> None:
    @story
    async def _(rig: Rig) -> None:
        def forget(_: ObjectKey) -> None:
            rig.keeper.forget("n")

        rig.cluster.before_write = forget
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(100)

        assert rig.changes == []
        assert rig.cluster.writes == [("create", "n")]


def test_a_node_made_again_under_its_name_becomes_the_owner() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u1", can_wait=False)
        await asyncio.sleep(1)
        rig.keeper.forget("n")
        rig.keeper.want("n", "u2", can_wait=False)
        await asyncio.sleep(20)

        owners = rig.cluster.object(LEASES, "n", NODE_LEASES)["metadata"]["ownerReferences"]
        assert [owner["uid"] for owner in owners] == ["u2"]


def test_the_metrics_count_the_held_leases() -> None:
    @story
    async def _(rig: Rig) -> None:
        for number in range(3):
            rig.keeper.want(f"n{number}", "u", can_wait=False)
        await asyncio.sleep(1)

        text = rig.metrics.text()
        assert 'kwok_controller_leases{state="held"} 3' in text
        assert 'kwok_controller_leases{state="foreign"} 0' in text


def test_the_holder_is_the_node_where_leases_are_held_as_kubelets_do() -> None:
    async def whole() -> None:
        rig = Rig(holder=NODE_NAME)
        rig.foreign(age=1, holder="b", name="b")
        rig.foreign(age=1, holder="kwok-controller", name="c")
        rig.foreign(age=1, holder="someone", name="d")
        rig.keeper.seed(rig.raw())
        async with rig.running():
            for name in "abcd":
                rig.keeper.want(name, "u", can_wait=False)
            await asyncio.sleep(11)

            assert {name: rig.spec(name)["holderIdentity"] for name in "abcd"} == {
                "a": "a",
                "b": "b",
                "c": "c",
                "d": "someone",
            }
            assert {rig.spec(name)["leaseTransitions"] for name in "abc"} == {0}

    run(whole())
