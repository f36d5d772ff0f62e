"""Keeps the clock of faults in a Lease of the cluster: it has run until the last renewal of the Lease."""

from collections.abc import Callable

import msgspec

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.errors import ApiError
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import FAULT_CLOCK, LEASES, NODE_LEASES

_STOOD = "kwokctl.dev/stood-still"
"""The annotation of the Lease with the seconds in which the clock stood still."""
EVERY = 10.0
"""Seconds between renewals."""


class ClockKeeper:
    """Keeps the clock in the cluster; one controller of several renews it, and the others read it."""

    def __init__(self, client: Client, clock: FaultClock, wall: Callable[[], float]) -> None:
        """Read and write with `client`."""
        self._client = client
        self._clock = clock
        self._wall = wall
        self._version = ""
        self._newest = 0
        """The highest version of the Lease that was read or written: an answer may be late, and show an older one."""

    async def read(self) -> None:
        """Take over the clock of the cluster, if there is one."""
        if (found := await self._client.find(LEASES, NODE_LEASES, FAULT_CLOCK)) is not None:
            self._take(found)

    async def renew(self) -> None:
        """Note that the clock runs; if the cluster has another clock, such as a restored one, take that over."""
        if not self._version:
            await self.read()
        now = self._now()
        try:
            written = await (self._change(now) if self._version else self._create(now))
        except ApiError as e:
            if e.status not in (404, 409):
                raise
            self._version = ""  # it was restored, or removed: read it again
            await self.read()
            return
        self._clock.renewed = parse_time(now)
        self._note(msgspec.json.decode(written)["metadata"]["resourceVersion"])

    def _note(self, version: str) -> None:
        self._version, self._newest = version, max(self._newest, int(version))

    def _take(self, found: Json) -> None:
        version = found["metadata"]["resourceVersion"]
        if int(version) < self._newest:
            return
        annotations = found["metadata"].get("annotations") or {}
        renewed = found["spec"].get("renewTime")
        if renewed:
            self._clock.take(_number(annotations.get(_STOOD, "0")), parse_time(renewed))
        self._note(version)

    async def _create(self, now: str) -> bytes:
        body = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {
                "name": FAULT_CLOCK,
                "namespace": NODE_LEASES,
                "annotations": self._annotations(),
            },
            "spec": {"renewTime": now},
        }
        return await self._client.create(LEASES, NODE_LEASES, msgspec.json.encode(body))

    async def _change(self, now: str) -> bytes:
        patch = {
            "metadata": {"resourceVersion": self._version, "annotations": self._annotations()},
            "spec": {"renewTime": now},
        }
        path = LEASES.path(NODE_LEASES, FAULT_CLOCK)
        body = msgspec.json.encode(patch)
        return await self._client.call("PATCH", path, body, content_type=PatchType.MERGE)

    def _annotations(self) -> dict[str, str]:
        return {_STOOD: f"{self._clock.stood:.3f}"}

    def _now(self) -> str:
        now = self._wall()
        micros = int(now % 1 * 1e6)
        return f"{format_time(int(now))[:-1]}.{micros:06d}Z"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
