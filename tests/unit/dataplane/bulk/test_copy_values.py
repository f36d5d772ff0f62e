"""What pods get as addresses when a Stage gives fewer of them, or others, than a kubelet does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.scaling.changes import Serials
from kwokctl.dataplane.bulk.copy_makers import PlaceNeeds
from kwokctl.dataplane.bulk.copy_values import CopyValues
from kwokctl.dataplane.bulk.created_samples import Sample
from kwokctl.dataplane.scale_protocol import PODS_PER_REQUEST, ControllerClient, PodPlace
from kwokctl.errors import ApiError, CannotStampError
from tests.support.bulk import NOWHERE, bulk_access, new_pods


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
        return iter([PodPlace(("p4", "p6"), ("h4", "h6"))] * len(nodes))


def copies(controller: Controller | None, *, placed: bool = True) -> CopyValues:
    new = new_pods(node_of=(lambda serial: "n") if placed else None)
    return CopyValues(new, bulk_access(controller=controller))


def sample(status: dict[str, Any]) -> Sample:
    metadata = {"name": "pod-000000", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return Sample(0, {"metadata": metadata, "spec": {"nodeName": "n"}, "status": status})


def test_a_pod_without_lists_has_the_single_addresses() -> None:
    copy = CopyValues.of_sample(sample({"hostIP": "h4", "podIP": "p4"}))

    assert (copy.pod_ips, copy.host_ips) == (("p4",), ("h4",))


def test_a_pod_without_addresses_has_those_that_it_will_be_given() -> None:
    copy = CopyValues.of_sample(sample({}), PodPlace(("p4", "p6"), ("h4",)))

    assert (copy.pod_ips, copy.host_ips) == (("p4", "p6"), ("h4",))


async def test_nothing_is_requested_where_no_address_is_needed() -> None:
    values = copies(Controller())

    assert await values.place_of(sample({}), PlaceNeeds.NOTHING) == PodPlace()
    (copy,) = await anext(values.batches(Serials([range(1)]), PlaceNeeds.NOTHING))
    assert (copy.node, copy.pod_ips) == ("n", ())


async def test_addresses_are_requested_as_copies_are_made() -> None:
    controller = Controller()
    batches = copies(controller).batches(
        Serials([range(2 * PODS_PER_REQUEST + 5)]), PlaceNeeds.ADDRESSES
    )

    first = await anext(batches)
    assert controller.asked == [PODS_PER_REQUEST]
    assert sum(1 for _ in first) == PODS_PER_REQUEST
    assert [sum(1 for _ in batch) async for batch in batches] == [PODS_PER_REQUEST, 5]
    assert controller.asked == [PODS_PER_REQUEST, PODS_PER_REQUEST, 5]


async def test_without_a_controller_pods_on_nodes_cannot_be_copied() -> None:
    controller = Controller()
    controller.is_away = True

    with pytest.raises(CannotStampError, match="the controller does not answer"):
        await anext(copies(controller).batches(Serials([range(3)]), PlaceNeeds.ADDRESSES))
    with pytest.raises(CannotStampError, match="there is no controller"):
        await anext(copies(None).batches(Serials([range(3)]), PlaceNeeds.ADDRESSES))

    unplaced = await anext(
        copies(controller, placed=False).batches(Serials([range(3)]), PlaceNeeds.ADDRESSES)
    )
    assert [copy.name for copy in unplaced] == ["pod-000000", "pod-000001", "pod-000002"]
