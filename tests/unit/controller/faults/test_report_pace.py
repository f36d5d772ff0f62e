"""How often Faults are reported, and which of them first."""

import asyncio

from kwokctl.controller.faults.report_pace import OF_ALL, OF_ONE, ReportPace
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from tests.support.virtual_time import run


def test_one_fault_is_reported_once_a_second_and_all_of_them_five_times() -> None:
    async def story() -> dict[str, list[float]]:
        loop = asyncio.get_running_loop()
        made: dict[str, list[float]] = {"a": [], "b": [], "c": []}
        queue = DelayQueue()

        def report(name: str) -> None:
            if pace.may(name):
                made[name].append(loop.time())

        pace: ReportPace[str] = ReportPace(queue, report)
        start = loop.time()
        for name in ("a", "b", "c"):
            report(name)
        assert len(pace) == 2
        await asyncio.sleep(OF_ONE)
        report("a")
        report("a")
        await asyncio.sleep(OF_ONE)
        return {name: [round(at - start, 3) for at in times] for name, times in made.items()}

    assert run(story()) == {
        "a": [0.0, OF_ONE],
        "b": [2 * OF_ALL],
        "c": [OF_ALL],
    }
