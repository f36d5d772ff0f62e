import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import orjson
import pytest

from kwokctl.controller.context import ControllerContext
from kwokctl.controller.leases.keeper import LeaseKeeper, own_identity
from kwokctl.controller.metrics import controller_metrics
from kwokctl.controller.nodes.registry import Hold
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.dataplane.leases.encode import micro_time
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError
from kwokctl.kube.resource import LEASES, NODE_LEASES
from kwokctl.kube.transport.status import refusal
from tests.support.fake_cluster import FakeCluster
from tests.support.virtual_time import run

BUSY = ApiError("busy", status=503)
DURATION = 40


class Rig:
    """A keeper on a cluster in memory; the time of day is the loop's."""

    def __init__(
        self,
        cluster: FakeCluster | None = None,
        *,
        holder: str = "me_1",
        duration: int = DURATION,
    ) -> None:
        self.cluster = cluster or FakeCluster(LEASES)
        self.delay_queue = DelayQueue()
        self.changes: list[tuple[str, Hold]] = []
        context = ControllerContext(
            plane=self.cluster,
            reader=self.cluster,
            delay_queue=self.delay_queue,
            metrics=controller_metrics(),
            random=Random(1),
            wall=lambda: 1_767_268_800.0 + asyncio.get_running_loop().time(),
        )
        self.metrics = context.metrics
        self.keeper = LeaseKeeper(
            context,
            lambda node, hold: self.changes.append((node, hold)),
            holder=holder,
            duration=duration,
        )

    def spec(self, node: str = "n") -> dict[str, Any]:
        spec: dict[str, Any] = self.cluster.object(LEASES, node, NODE_LEASES)["spec"]
        return spec

    def foreign(self, *, age: float, duration: int = DURATION, holder: str = "other_2") -> None:
        """Let another controller hold the lease, renewed `age` seconds ago."""
        now = 1_767_268_800.0 + asyncio.get_running_loop().time()
        self.cluster.put(
            LEASES,
            {
                "metadata": {"name": "n", "namespace": NODE_LEASES},
                "spec": {
                    "holderIdentity": holder,
                    "leaseDurationSeconds": duration,
                    "renewTime": micro_time(now - age),
                    "leaseTransitions": 0,
                },
            },
        )

    def raw(self) -> list[Any]:
        return [read_lease(orjson.dumps(body)) for body in self.cluster.objects.values()]

    @asynccontextmanager
    async def running(self) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.keeper.run())
            try:
                yield
            finally:
                task.cancel()
                self.delay_queue.close()


def story(test: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        rig = Rig()
        async with rig.running():
            await test(rig)

    run(whole())


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

        await asyncio.sleep(2)
        assert rig.changes == [("n", Hold.HELD)]
        assert rig.cluster.writes == [("create", "n")]


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


def test_a_foreign_lease_is_left_alone_and_taken_over_when_it_has_ended() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=10)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(29)
        assert rig.changes == [("n", Hold.FOREIGN)]
        assert rig.cluster.writes == [("create", "n"), ("get", "n")]

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
        assert len(rig.cluster.verbs("get")) <= 8


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


def test_an_own_expired_lease_is_renewed_without_a_transition() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.foreign(age=1000, holder="me_1")
        rig.keeper.seed(rig.raw())
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(1)

        assert rig.changes == [("n", Hold.HELD)]
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


def test_a_renewal_that_fails_is_tried_again_before_the_lease_ends() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        rig.cluster.refuse.extend([BUSY] * 3)
        await asyncio.sleep(30)

        assert rig.changes == [("n", Hold.HELD)]
        assert len(rig.cluster.verbs("replace")) >= 4


def test_a_lease_that_could_not_be_renewed_in_time_is_not_held_until_it_is() -> None:
    @story
    async def _(rig: Rig) -> None:
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(0.1)
        rig.cluster.refuse.extend([BUSY] * 9)
        await asyncio.sleep(120)

        assert rig.changes == [("n", Hold.HELD), ("n", Hold.PENDING), ("n", Hold.HELD)]


def test_a_right_that_is_missing_is_logged_once_for_all_nodes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    message = 'User "u" cannot create resource "leases" in API group "coordination.k8s.io"'
    forbidden = refusal(403, orjson.dumps({"message": message, "reason": "Forbidden"}))

    @story
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([forbidden] * 20)
        for number in range(10):
            rig.keeper.want(f"n{number}", "u", can_wait=False)
        await asyncio.sleep(100)

        assert len(rig.changes) == 10

    [record] = caplog.records
    assert "--verb=create --resource=leases.coordination.k8s.io" in record.getMessage()


def test_a_namespace_that_is_not_there_yet_is_waited_for() -> None:
    missing = ApiError("namespaces not found", status=404, reason="NotFound")

    @story
    async def _(rig: Rig) -> None:
        rig.cluster.refuse.extend([missing] * 3)
        rig.keeper.want("n", "u", can_wait=False)
        await asyncio.sleep(8)

        assert rig.changes == [("n", Hold.HELD)]


def test_the_metrics_count_the_held_leases() -> None:
    @story
    async def _(rig: Rig) -> None:
        for number in range(3):
            rig.keeper.want(f"n{number}", "u", can_wait=False)
        await asyncio.sleep(1)

        text = rig.metrics.text()
        assert 'kwok_controller_leases{state="held"} 3' in text
        assert 'kwok_controller_leases{state="foreign"} 0' in text


def test_no_two_controllers_of_a_host_have_the_same_identity() -> None:
    one, other = own_identity(), own_identity()

    assert one != other
    assert one.startswith(f"{socket.gethostname()}_")
