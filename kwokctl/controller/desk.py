"""Answers what `scale` asks before it writes nodes and pods itself."""

import msgspec

from kwokctl.controller.agenda import Agenda
from kwokctl.controller.pod_addresses import PodAddresses
from kwokctl.dataplane.desk import Addresses, Seen, Wanted
from kwokctl.kube.resource import NODES, PODS, Resource

_RESERVED_FOR = 600.0
"""Seconds in which reserved addresses must have been seen in pods."""
_MOST = 20_000
"""Pods for which addresses are reserved at a time."""


class Desk:
    """Tells what has been seen, and reserves pod addresses."""

    def __init__(self, addresses: PodAddresses, agenda: Agenda) -> None:
        """Answer from `addresses`."""
        self._addresses = addresses
        self._agenda = agenda
        self._seen = Seen()

    def note(self, resource: Resource, version: int) -> None:
        """Take note that the watch of a kind has come to a version."""
        if resource == NODES:
            self._seen.nodes = version
        elif resource == PODS:
            self._seen.pods = version

    def seen(self) -> bytes:
        """Return how far the watches have come, as JSON."""
        return msgspec.json.encode(self._seen)

    def reserve(self, body: bytes) -> bytes:
        """Reserve addresses for pods that somebody else makes; ValueError for a bad question."""
        try:
            wanted = msgspec.json.decode(body, type=Wanted).nodes
        except msgspec.DecodeError as e:
            raise ValueError(str(e)) from e
        if sum(wanted.values()) > _MOST or any(number < 0 for number in wanted.values()):
            raise ValueError(f"addresses are reserved for at most {_MOST} pods at a time")
        now = self._agenda.now()
        self._addresses.expire(now)
        until = now + _RESERVED_FOR
        answer = {
            node: Addresses(
                hosts=list(self._addresses.of_node(node)),
                pods=[list(ips) for ips in self._addresses.reserve(node, number, until=until)],
            )
            for node, number in wanted.items()
        }
        return msgspec.json.encode(answer)
