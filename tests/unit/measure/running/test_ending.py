"""The end of a run whose watches are interrupted."""

import asyncio
from typing import cast

from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.histories.history import History
from kwokctl.measure.running.ending import QUIET, drained
from kwokctl.measure.running.workloads import Workloads
from tests.support import virtual_time
from tests.support.measured import SECOND, header


def ends_after(outage: float) -> float:
    """Return after how many seconds a run ends that makes nothing, and whose watches are interrupted at first."""

    async def run() -> float:
        time = asyncio.get_running_loop().time
        await drained(
            History(header()),
            Workloads(cast("Pool", None), ""),
            lambda: round(time() * SECOND),
            is_watched=lambda: time() >= outage,
        )
        return time()

    return virtual_time.run(run())


def test_a_run_does_not_end_before_its_watches_have_said_what_they_had_missed() -> None:
    assert abs(ends_after(0) - QUIET) < 0.5
    assert abs(ends_after(20) - 20 - QUIET) < 0.5
