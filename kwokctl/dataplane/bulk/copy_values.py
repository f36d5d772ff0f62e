"""What is each copy's own: its name, uid and time, and a pod's node and addresses."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import lru_cache

from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.bulk.samples import Sample
from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.port import NewObjects
from kwokctl.dataplane.scale_protocol import TOGETHER
from kwokctl.errors import ApiError, CannotStampError
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.names import new_uid

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

    async def of_sample(self, sample: Sample) -> Copy:
        """Return what is a real object's own.

        Raises CannotStampError for a pod that has other addresses than the controller gives.
        """
        metadata, status = sample.body["metadata"], sample.body.get("status", {})
        copy = Copy(
            serial=sample.serial,
            name=metadata["name"],
            uid=metadata["uid"],
            created=metadata["creationTimestamp"],
            node=sample.body.get("spec", {}).get("nodeName", ""),
            pod_ips=_addresses(status, "podIP"),
            host_ips=_addresses(status, "hostIP"),
        )
        if self._node_of is not None:
            ((_, hosts),) = await self._asked((copy.node,), of_pods=False)
            if copy.host_ips != hosts[: len(copy.host_ips)]:
                raise CannotStampError(
                    f"'{copy.name}' has other host addresses than its node: "
                    f"{', '.join(copy.host_ips)}"
                )
        return copy

    async def batches(
        self, serials: Sequence[int], *, on_host: bool
    ) -> AsyncIterator[Iterator[Copy]]:
        """Yield copies in the order of their serials, as many together as addresses are given for.

        Raises CannotStampError if the controller cannot be asked for these.
        """
        if self._node_of is None:
            yield map(self._copy, serials)
            return
        for start in range(0, len(serials), TOGETHER):
            batch = serials[start : start + TOGETHER]
            nodes = [self._node_of(serial) for serial in batch]
            addresses = await self._asked(nodes, of_pods=not on_host)
            yield (
                self._copy(serial, node, *ips)
                for serial, node, ips in zip(batch, nodes, addresses, strict=True)
            )

    def _copy(
        self,
        serial: int,
        node: str = "",
        pod_ips: tuple[str, ...] = (),
        host_ips: tuple[str, ...] = (),
    ) -> Copy:
        return Copy(
            serial=serial,
            name=self._name_of(serial),
            uid=new_uid(),
            created=_formatted(int(self._wall())),
            node=node,
            pod_ips=pod_ips,
            host_ips=host_ips,
        )

    async def _asked(
        self, nodes: Sequence[str], *, of_pods: bool
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        if self._controller is None:
            raise CannotStampError("there is no controller that gives addresses to pods")
        try:
            return await self._controller.addresses(nodes, of_pods=of_pods)
        except ApiError as e:
            raise CannotStampError(f"the controller does not answer: {e}") from e


def fitting(sample: Json) -> Callable[[Copy], bool]:
    """Return what tells whether a pod has as many addresses as a real one gets with its status.

    A Stage that gives no `hostIPs` gives one address of a kind, however many a node has.
    """
    status = sample.get("status", {})
    pods, hosts = len(_addresses(status, "podIP")), len(_addresses(status, "hostIP"))
    if "hostIPs" in status:
        return lambda copy: len(copy.pod_ips) == pods and len(copy.host_ips) == hosts
    return lambda copy: len(copy.pod_ips) >= pods and len(copy.host_ips) >= hosts


def _addresses(status: Json, field: str) -> tuple[str, ...]:
    """Return addresses of a pod's status; the API server derives `podIPs`, but not `hostIPs`."""
    listed = status.get(f"{field}s") or ([{"ip": status[field]}] if status.get(field) else ())
    return tuple(each["ip"] for each in listed)
