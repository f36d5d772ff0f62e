"""The Lease of the clock of faults: answers that come late do not set the clock back."""

from typing import Any, cast

import msgspec

from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.expr.duration import format_time
from kwokctl.kube.client import Client
from tests.support.faults import NOON


class OneLease:
    """A cluster with one Lease, whose versions the test sets."""

    def __init__(self) -> None:
        self.version = 1
        self.renewed = NOON

    async def find(self, *_: object) -> Any:
        return {
            "metadata": {"resourceVersion": str(self.version), "annotations": {}},
            "spec": {"renewTime": format_time(self.renewed)},
        }

    async def call(self, *_: object, **__: object) -> bytes:
        self.version += 1
        return msgspec.json.encode({"metadata": {"resourceVersion": str(self.version)}})


async def test_a_late_answer_is_ignored_and_a_restored_lease_is_not() -> None:
    lease, now = OneLease(), [NOON]
    clock = FaultClock(lambda: now[0])
    keeper = ClockKeeper(cast("Client", lease), clock, lambda: now[0])
    await keeper.renew()
    now[0] += 60
    await keeper.renew()

    lease.version -= 1
    await keeper.read()
    assert clock.stood == 0

    lease.version += 5
    await keeper.read()
    assert clock.stood == 60
