"""The devices that the containers of a pod get of what is free."""

from random import Random
from typing import Any

import pytest

from kwokctl.controller.lifecycle.admission.device_claims import (
    DeviceClaim,
    ShortageError,
    allocated,
    device_claims_of,
)
from kwokctl.controller.lifecycle.admission.device_table import DeviceTable
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.fleet.device_health import NodeDevices
from kwokctl.fleet.devices import device_ids

GPU, NIC = "nvidia.com/gpu", "rdma/ib"
OFFERED = {
    GPU: NodeDevices(["g0", "g1", "g2", "g3"], frozenset({"g1"})),
    NIC: NodeDevices(["n0", "n1"], frozenset()),
}


def claim(container: str, number: int, resource: str = GPU, *, lends: bool = False) -> DeviceClaim:
    return DeviceClaim(container, resource, number, lends)


def got(*claims: DeviceClaim, taken: tuple[str, ...] = ()) -> str:
    found = allocated(claims, OFFERED, dict.fromkeys(taken, "other"))
    return " ".join(f"{each.container}={each.device_id}" for each in found)


def test_only_limits_of_resources_of_vendors_are_claims_and_init_containers_lend() -> None:
    def container(name: str, **more: Any) -> dict[str, Any]:
        limits = {"cpu": "1", "hugepages-2Mi": "2Mi", "kubernetes.io/x": "1", GPU: "2", NIC: "0"}
        return {"name": name, "resources": {"limits": limits}, **more}

    spec = {
        "containers": [container("c"), {"name": "none"}],
        "initContainers": [container("i"), container("s", restartPolicy="Always")],
    }
    assert device_claims_of(spec) == (claim("i", 2, lends=True), claim("s", 2), claim("c", 2))


@pytest.mark.parametrize(
    ("claims", "taken", "expected"),
    [
        ([claim("a", 2)], (), "a=g0 a=g2"),
        ([claim("a", 2)], ("g0",), "a=g2 a=g3"),
        ([claim("a", 1), claim("b", 1), claim("b", 1, NIC)], (), "a=g0 b=g2 b=n0"),
        ([claim("i", 2, lends=True), claim("a", 1), claim("b", 2)], (), "i=g0 i=g2 a=g0 b=g2 b=g3"),
        ([claim("i", 1, lends=True), claim("j", 2, lends=True), claim("a", 3)], (),
         "i=g0 j=g0 j=g2 a=g0 a=g2 a=g3"),
        ([claim("i", 1, lends=True), claim("s", 1), claim("a", 2)], (), "i=g0 s=g0 a=g2 a=g3"),
        ([claim("i", 1, NIC, lends=True), claim("a", 1)], (), "i=n0 a=g0"),
        ([claim("a", 1, "example.com/none")], (), ""),
    ],
)  # fmt: skip
def test_the_lowest_free_ones_are_given_container_by_container(
    claims: list[DeviceClaim], taken: tuple[str, ...], expected: str
) -> None:
    assert got(*claims, taken=taken) == expected


@pytest.mark.parametrize(
    ("claims", "taken", "problem"),
    [
        ([claim("a", 4)], (), f"requested number of devices unavailable for {GPU}. Requested: 4, Available: 3"),
        ([claim("i", 1, lends=True), claim("a", 3)], ("g3",),
         f"requested number of devices unavailable for {GPU}. Requested: 3, Available: 2"),
        ([claim("a", 1)], ("g0", "g2", "g3"),
         f"requested number of devices unavailable for {GPU}. Requested: 1, Available: 0"),
    ],
)  # fmt: skip
def test_too_few_are_a_shortage(
    claims: list[DeviceClaim], taken: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(ShortageError) as found:
        got(*claims, taken=taken)
    assert str(found.value) == problem


@pytest.mark.parametrize("seed", range(4))
def test_no_device_is_ever_given_twice_and_each_that_is_free_can_be(seed: int) -> None:
    random, table = Random(seed), DeviceTable()
    facts = NodeFacts(allocatable=b'{"nvidia.com/gpu":"8"}', capacity=b'{"nvidia.com/gpu":"8"}')
    ids = list(device_ids("n", {}, {GPU: 8}, GPU))
    held: dict[str, list[str]] = {}
    for number in range(200):
        free = [each for each in ids if not any(each in own for own in held.values())]
        wanted, uid = random.randint(1, 4), str(number)
        try:
            table.give("n", uid, facts, (claim("c", wanted),), f"{number:03}")
        except ShortageError:
            assert len(free) < wanted
            uid = random.choice(list(held))
            table.release("n", uid)
            del held[uid]
            continue
        held[uid] = [each.device_id for each in table.of("n", uid, facts)]
        assert held[uid] == free[:wanted]
