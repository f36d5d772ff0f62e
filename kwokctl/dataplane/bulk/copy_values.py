"""The values that differ from copy to copy: name, uid and time, and a pod's node and addresses."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat

from kwokctl.dataplane.bulk.copy_makers import PlaceNeeds
from kwokctl.dataplane.bulk.created_samples import Sample
from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.port import NewObjects
from kwokctl.dataplane.scale_protocol import PODS_PER_REQUEST, PodPlace
from kwokctl.errors import ApiError, CannotStampError
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.names import new_uid

_NOWHERE = PodPlace()
_formatted = lru_cache(maxsize=2)(format_time)
"""Thousands of copies are made within a second."""


class CopyValues:
    """Gives the values of each copy of one object."""

    def __init__(self, new: NewObjects, access: BulkAccess) -> None:
        """Name copies as `new` does."""
        self._name_of = new.name_of
        self._node_of = new.node_of
        self._controller = access.controller
        self._wall = access.wall

    @staticmethod
    def of_sample(sample: Sample, place: PodPlace = _NOWHERE) -> Copy:
        """Return the values of a real object; addresses that it lacks are taken from `place`."""
        metadata, status = sample.body["metadata"], sample.body.get("status", {})
        return Copy(
            serial=sample.serial,
            name=metadata["name"],
            uid=metadata["uid"],
            created=metadata["creationTimestamp"],
            node=sample.body.get("spec", {}).get("nodeName", ""),
            pod_ips=_addresses(status, "podIP") or place.pod_ips,
            host_ips=place.host_ips or _addresses(status, "hostIP"),
        )

    async def place_of(self, sample: Sample, needs: PlaceNeeds) -> PodPlace:
        """Return the place of a real object, with as many addresses as it will have."""
        if needs is PlaceNeeds.NOTHING:
            return PodPlace()
        node = sample.body["spec"]["nodeName"]
        (place,) = await self._asked((node,), of_pods=False)
        if needs is PlaceNeeds.NODES:
            return place
        return place._replace(pod_ips=("",) * place.families)

    async def batches(
        self, serials: Sequence[int], needs: PlaceNeeds
    ) -> AsyncIterator[Iterator[Copy]]:
        """Yield copies in the order of their serials, in batches for which addresses were requested together.

        Raises CannotStampError if the controller does not give addresses.
        """
        if self._node_of is None:
            yield map(self._copy, serials)
            return
        for start in range(0, len(serials), PODS_PER_REQUEST):
            batch = serials[start : start + PODS_PER_REQUEST]
            nodes = [self._node_of(serial) for serial in batch]
            places: Iterable[PodPlace] = repeat(_NOWHERE, len(batch))
            if needs is not PlaceNeeds.NOTHING:
                places = await self._asked(nodes, of_pods=needs is PlaceNeeds.ADDRESSES)
            yield map(self._copy, batch, nodes, places)

    def one(self, serial: int) -> Copy:
        """Return the values of a copy for which the controller is not asked."""
        return self._copy(serial, self._node_of(serial) if self._node_of else "")

    def _copy(self, serial: int, node: str = "", place: PodPlace = _NOWHERE) -> Copy:
        return Copy(
            serial=serial,
            name=self._name_of(serial),
            uid=new_uid(),
            created=_formatted(int(self._wall())),
            node=node,
            pod_ips=place.pod_ips,
            host_ips=place.host_ips,
            is_held=place.is_held,
        )

    async def _asked(self, nodes: Sequence[str], *, of_pods: bool) -> Iterator[PodPlace]:
        if self._controller is None:
            raise CannotStampError("there is no controller that gives addresses to pods")
        try:
            return await self._controller.addresses(nodes, of_pods=of_pods)
        except ApiError as e:
            raise CannotStampError(f"the controller does not answer: {e}") from e


def _addresses(status: Json, field: str) -> tuple[str, ...]:
    """Return addresses of a pod's status; the API server derives `podIPs`, but not `hostIPs`."""
    listed = status.get(f"{field}s") or ([{"ip": status[field]}] if status.get(field) else ())
    return tuple(each["ip"] for each in listed)
