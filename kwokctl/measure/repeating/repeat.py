"""Measures runs one after the other, each from the same state."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from kwokctl.clusters.state.home import Home
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.verdict import INTERRUPTED
from kwokctl.measure.repeating.start_state import MarkedState, ResetByCommand, StartState
from kwokctl.measure.running.request import MeasureRequest
from kwokctl.measure.running.run import any_cluster, measure_any, measure_own, own_cluster
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.tasks import until_its_end

Take = Callable[[MeasureRequest, History], None]
"""Takes what a run has recorded, when it is over."""
Measure = Callable[[MeasureRequest], Awaitable[History]]
"""Measures one run."""


async def repeat_own(
    home: Home, name: ClusterName, runs: Sequence[MeasureRequest], reset: str, take: Take
) -> list[str]:
    """Measure runs in a cluster of this kwokctl, and return in what their beginnings may have differed.

    It is rewound before each run and after the last, unless there is a command that resets it. An interrupt ends the
    run under way, and no other begins.
    """
    start: StartState = MarkedState(home, name)
    if reset:
        start = ResetByCommand(own_cluster(home, name), reset, home.progress)
    return await repeated(partial(measure_own, home, name), runs, start, take, home.progress)


async def repeat_any(
    kubeconfig: Path, runs: Sequence[MeasureRequest], reset: str, take: Take, progress: Progress
) -> list[str]:
    """Measure runs in any cluster, likewise, with a command that resets it."""
    start = ResetByCommand(any_cluster(kubeconfig), reset, progress)

    async def measure(request: MeasureRequest) -> History:
        return await measure_any(kubeconfig, request, progress)

    return await repeated(measure, runs, start, take, progress)


async def repeated(
    measure: Measure,
    runs: Sequence[MeasureRequest],
    start: StartState,
    take: Take,
    progress: Progress,
) -> list[str]:
    """Measure runs that begin with a state; an interrupt after the first one is the end, and no error."""
    taken: list[Path] = []

    async def one_after_another() -> None:
        for number, request in enumerate(runs, 1):
            await start.again()
            progress.note(f"run {number} of {len(runs)}: '{request.record.name}'")
            history = await measure(request)
            take(request, history)
            taken.append(request.record)
            if INTERRUPTED in history.moments:
                return

    async with start.kept():
        await until_its_end(one_after_another(), None, has_begun=lambda: bool(taken))
    return start.remarks()
