import asyncio

import orjson
import pytest

from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.errors import ApiError
from kwokctl.kube.transport.refusals import refusal
from tests.support.lease_rig import BUSY, Rig, story


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
