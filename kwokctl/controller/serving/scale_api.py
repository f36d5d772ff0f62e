"""Answers the requests of `scale`, which writes nodes and pods itself."""

from collections.abc import Mapping

import msgspec

from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.dataplane.scale_protocol import Addresses, AddressRequest, Seen
from kwokctl.kube.resource import FAULTS, NODES, PODS, Resource

_RESERVED_FOR = 600.0
"""Seconds in which reserved addresses must have been seen in pods."""
_MOST = 20_000
"""Pods for which addresses are reserved at a time."""
_MOST_RESERVED = 400_000
"""Addresses that are reserved at once: more than two for each of the pods that a cluster may have
(https://kubernetes.io/docs/setup/best-practices/cluster-large/)."""


class RetryLaterError(Exception):
    """The request cannot be served yet, but may be soon."""


class ScaleApi:
    """Returns how far watches have come, and reserves pod addresses."""

    def __init__(self, addresses: PodIPs, delay_queue: DelayQueue) -> None:
        """Answer from `addresses`."""
        self._addresses = addresses
        self._delay_queue = delay_queue
        self._seen = Seen()

    def note(self, resource: Resource, version: int) -> None:
        """Note that the watch of a kind has come to a version."""
        if resource == NODES:
            self._seen.nodes = version
        elif resource == PODS:
            self._seen.pods = version
        elif resource == FAULTS:
            self._seen.faults = version

    def seen(self) -> bytes:
        """Return how far the watches have come, as JSON."""
        return msgspec.json.encode(self._seen)

    def reserve(self, body: bytes) -> bytes:
        """Reserve addresses for pods that `scale` makes, until they are seen or it expires.

        Raises ValueError for a bad question; RetryLaterError for a node that is not played here, or has
        not been seen yet, and where too many addresses are reserved already.
        """
        try:
            wanted = msgspec.json.decode(body, type=AddressRequest).nodes
        except (msgspec.DecodeError, RecursionError) as e:
            raise ValueError(str(e)) from e
        if sum(wanted.values()) > _MOST or any(number < 0 for number in wanted.values()):
            raise ValueError(f"addresses are reserved for at most {_MOST} pods at a time")
        now = self._delay_queue.now()
        upcoming = self._addresses.expire(now)
        self._check_room(wanted)
        until = now + _RESERVED_FOR
        self._delay_queue.put_at(self, until if upcoming is None else upcoming)
        answer = {
            node: Addresses(
                hosts=list(self._addresses.of_node(node)),
                pods=[list(ips) for ips in self._addresses.reserve(node, number, until=until)],
                is_held=self._addresses.is_held(node),
                families=self._addresses.families(node) or 0,
            )
            for node, number in wanted.items()
        }
        return msgspec.json.encode(answer)

    def on_due(self) -> None:
        """Take back expired reservations."""
        upcoming = self._addresses.expire(self._delay_queue.now())
        if upcoming is not None:
            self._delay_queue.put_at(self, upcoming)

    def _check_room(self, wanted: Mapping[str, int]) -> None:
        number = self._addresses.reserved
        for node, pods in wanted.items():
            families = self._addresses.families(node)
            if families is None:
                raise RetryLaterError(f"this controller manages no node '{node}'")
            number += pods * families
        if number > _MOST_RESERVED:
            raise RetryLaterError(
                f"more than {_MOST_RESERVED} pod addresses would be reserved at once"
            )
