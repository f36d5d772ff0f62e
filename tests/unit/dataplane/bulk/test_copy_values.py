"""What pods get as addresses when a Stage gives fewer of them, or others, than a kubelet does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.scaling.changes import Serials
from kwokctl.dataplane.bulk.copy_values import CopyValues, fitting
from kwokctl.dataplane.bulk.samples import Sample
from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.scale_protocol import TOGETHER, ControllerClient
from kwokctl.errors import ApiError, CannotStampError
from tests.support.bulk import NOWHERE, bulk_access, new_pods

BOTH = {"hostIP": "h4", "hostIPs": [{"ip": "h4"}, {"ip": "h6"}], "podIP": "p4"} | {
    "podIPs": [{"ip": "p4"}, {"ip": "p6"}]
}
SINGLE = {"hostIP": "h4", "podIP": "p4", "podIPs": [{"ip": "p4"}]}
"""As Stages have it that give `hostIP` and `podIP` only."""


class Controller(ControllerClient):
    """Gives addresses of both families to every pod."""

    def __init__(self) -> None:
        super().__init__(NOWHERE, Path("no token"))
        self.asked: list[int] = []
        self.is_away = False

    async def addresses(self, nodes: Sequence[str], *, of_pods: bool) -> Any:
        if self.is_away:
            raise ApiError("no answer", status=0)
        self.asked.append(len(nodes))
        return iter([(("p4", "p6"), ("h4", "h6"))] * len(nodes))


def copies(controller: Controller | None, *, placed: bool = True) -> CopyValues:
    new = new_pods(node_of=(lambda serial: "n") if placed else None)
    return CopyValues(new, bulk_access(controller=controller))


def sample(status: dict[str, Any]) -> Sample:
    metadata = {"name": "pod-000000", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return Sample(0, {"metadata": metadata, "spec": {"nodeName": "n"}, "status": status})


async def test_a_pod_without_lists_has_the_single_addresses() -> None:
    copy = await copies(Controller()).of_sample(sample({"hostIP": "h4", "podIP": "p4"}))

    assert (copy.pod_ips, copy.host_ips) == (("p4",), ("h4",))


async def test_a_pod_with_another_host_address_than_its_node_cannot_be_copied() -> None:
    with pytest.raises(CannotStampError, match=r"other host addresses than its node: 1\.2\.3\.4"):
        await copies(Controller()).of_sample(sample({"hostIP": "1.2.3.4", "podIP": "p4"}))


@pytest.mark.parametrize(
    ("status", "pods", "hosts", "fits"),
    [
        (BOTH, ("a", "b"), ("c", "d"), True),
        (BOTH, ("a",), ("c", "d"), False),
        (BOTH, ("a", "b"), ("c",), False),
        (SINGLE, ("a", "b"), ("c", "d"), True),
        (SINGLE, ("a",), ("c",), True),
        (SINGLE, (), ("c",), False),
        ({}, (), (), True),
    ],
)
def test_a_copy_has_as_many_addresses_as_its_stage_gives(
    status: dict[str, Any], pods: tuple[str, ...], hosts: tuple[str, ...], fits: bool
) -> None:
    copy = Copy(serial=1, name="n", uid="u", created="t", pod_ips=pods, host_ips=hosts)

    assert fitting({"status": status})(copy) is fits


async def test_addresses_are_asked_for_as_copies_are_made() -> None:
    controller = Controller()
    batches = copies(controller).batches(Serials([range(2 * TOGETHER + 5)]), on_host=False)

    first = await anext(batches)
    assert controller.asked == [TOGETHER]
    assert sum(1 for _ in first) == TOGETHER
    assert [sum(1 for _ in batch) async for batch in batches] == [TOGETHER, 5]
    assert controller.asked == [TOGETHER, TOGETHER, 5]


async def test_without_a_controller_pods_on_nodes_cannot_be_copied() -> None:
    controller = Controller()
    controller.is_away = True

    with pytest.raises(CannotStampError, match="the controller does not answer"):
        await anext(copies(controller).batches(Serials([range(3)]), on_host=False))
    with pytest.raises(CannotStampError, match="there is no controller"):
        await anext(copies(None).batches(Serials([range(3)]), on_host=False))

    unplaced = await anext(
        copies(controller, placed=False).batches(Serials([range(3)]), on_host=False)
    )
    assert [copy.name for copy in unplaced] == ["pod-000000", "pod-000001", "pod-000002"]
