import asyncio
import json
from typing import Any

import pytest

from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.serving.scale_api import RetryLaterError, ScaleApi
from kwokctl.kube.resource import FAULTS, LEASES, NODES, PODS
from tests.support import virtual_time


class Rig:
    """A desk for two nodes."""

    def __init__(self) -> None:
        nodes = NodeRegistry()
        nodes.put(ManagedNode("n", "u", ("10.0.0.0/24", "fd00::/64"), ("192.0.2.1",)))
        self.addresses = PodIPs(nodes, default_cidr="10.9.0.0/24", node_ip="")
        nodes.put(ManagedNode("plain", "v", (), ()))
        self.delay_queue = DelayQueue()
        self.scale_api = ScaleApi(self.addresses, self.delay_queue)

    def reserve(self, **nodes: int) -> Any:
        return json.loads(self.scale_api.reserve(json.dumps({"nodes": nodes}).encode()))


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def test_the_progress_of_the_watches_is_served(rig: Rig) -> None:
    rig.scale_api.note(NODES, 8)
    rig.scale_api.note(PODS, 9)
    rig.scale_api.note(LEASES, 10)

    assert json.loads(rig.scale_api.seen()) == {"nodes": 8, "pods": 9, "faults": None}
    rig.scale_api.note(FAULTS, 11)
    assert json.loads(rig.scale_api.seen()) == {"nodes": 8, "pods": 9, "faults": 11}


async def test_every_pod_gets_addresses_of_its_node_that_no_other_has(rig: Rig) -> None:
    rig.addresses.note("other", "n", ["10.0.0.2"])

    found = rig.reserve(n=2, plain=1)

    assert found["n"] == {
        "hosts": ["192.0.2.1"],
        "pods": [["10.0.0.1", "fd00::1"], ["10.0.0.3", "fd00::2"]],
        "is_held": True,
        "families": 2,
    }
    assert found["plain"]["pods"] == [["10.9.0.1"]]
    assert rig.addresses.of_pod("next", "n", host_network=False) == ("10.0.0.4", "fd00::3")


async def test_only_addresses_of_nodes_can_be_requested(rig: Rig) -> None:
    found = rig.reserve(n=0)["n"]

    assert (found["hosts"], found["pods"], found["families"]) == (["192.0.2.1"], [], 2)
    assert len(rig.addresses) == 0


async def test_a_pod_that_is_seen_with_its_reserved_addresses_keeps_them(rig: Rig) -> None:
    (addresses,) = rig.reserve(n=1)["n"]["pods"]
    rig.addresses.note("uid", "n", addresses)

    rig.addresses.expire(now=float("inf"))
    assert len(rig.addresses) == 2

    rig.addresses.release("uid")
    assert len(rig.addresses) == 0


async def test_addresses_that_no_pod_was_seen_with_are_taken_back(rig: Rig) -> None:
    rig.reserve(n=3)

    rig.addresses.expire(now=0.0)
    assert len(rig.addresses) == 6

    rig.addresses.expire(now=float("inf"))
    assert len(rig.addresses) == 0


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"nodes":{"n":-1}}', b'{"nodes":{"n":99999}}', b'{"a":' * 100_000],
)
async def test_a_question_that_makes_no_sense_is_refused(rig: Rig, body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        rig.scale_api.reserve(body)

    assert len(rig.addresses) == 0


async def test_only_for_nodes_that_are_played_addresses_are_reserved(rig: Rig) -> None:
    with pytest.raises(RetryLaterError, match="'elsewhere'"):
        rig.reserve(n=1, elsewhere=1)

    assert len(rig.addresses) == 0


async def test_there_is_a_limit_to_what_is_reserved_at_once(rig: Rig) -> None:
    for _ in range(10):
        rig.reserve(n=20_000)

    with pytest.raises(RetryLaterError, match="400000"):
        rig.reserve(plain=1)

    assert rig.reserve(n=0)["n"]["pods"] == []
    rig.addresses.expire(now=float("inf"))
    assert len(rig.reserve(plain=1)["plain"]["pods"]) == 1


def test_reserved_addresses_that_no_pod_uses_are_free_again_after_their_time() -> None:
    async def story() -> None:
        rig = Rig()
        rig.reserve(n=1)
        await asyncio.sleep(300)
        rig.reserve(n=2)

        await asyncio.sleep(301)
        assert len(rig.addresses) == 4

        await asyncio.sleep(300)
        assert len(rig.addresses) == 0

    virtual_time.run(story())
