"""Keeps CPU profiles of components, one after the other, while a run is measured.

`go tool pprof FILE…` adds up those of one component.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kwokctl.errors import ApiError
from kwokctl.host.files import write_atomic
from kwokctl.measure.histories.plane_history import PROFILES
from kwokctl.measure.sampling.metric_sources import MetricsSource
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER
from kwokctl.tasks import first_failure

PROFILED = (KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, ETCD)
SECONDS = 10
"""Of one profile: a component sends none of a shorter time when it is left early."""
_AGAIN = 1.0
"""Seconds until a component that does not answer is asked again."""
_PATH = f"/debug/pprof/profile?seconds={SECONDS}"


@asynccontextmanager
async def profiling(
    sources: Iterable[MetricsSource], folder: Path | None, note: Callable[[str, str], None]
) -> AsyncIterator[None]:
    """Keep profiles while inside, and until the last ones have come; none without a folder.

    What was kept, and why others were not, is passed to `note` in the end.
    """
    if folder is None:
        yield
        return
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    ending = asyncio.Event()
    keepers = [_Keeper(each, folder) for each in sources if each.name in PROFILED]
    try:
        async with asyncio.TaskGroup() as group:
            for each in keepers:
                group.create_task(each.keep(ending))
            try:
                yield
            finally:
                ending.set()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None
    finally:
        note(PROFILES, f"CPU profiles in '{folder}': {', '.join(map(str, keepers)) or 'none'}")


class _Keeper:
    """Keeps the profiles of one component."""

    def __init__(self, source: MetricsSource, folder: Path) -> None:
        self._source = source
        self._folder = folder
        self._kept = 0
        self._why = "it ended too early"

    async def keep(self, ending: asyncio.Event) -> None:
        """Ask for one profile after the other."""
        while not ending.is_set():
            try:
                answer = await self._source.pool.request("GET", _PATH, accept="*/*")
            except ApiError as e:  # it may be about to be started again
                self._why = str(e)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_AGAIN):
                        await ending.wait()
                continue
            if answer.status != 200:
                self._why = f"it answers {answer.status}"
                return
            self._kept += 1
            file = self._folder / f"{self._source.name}-{self._kept:04}.pb.gz"
            await asyncio.to_thread(write_atomic, file, answer.body)

    def __str__(self) -> str:
        return f"{self._kept:,} of {self._source.name}" + ("" if self._kept else f" ({self._why})")
