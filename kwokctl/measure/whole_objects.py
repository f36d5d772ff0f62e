"""Records whole objects beside lean lines, as `snapshot record` does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from kwokctl.clusters.object_files.exporting.export import ExportRequest, ExportSource
from kwokctl.clusters.object_files.recording.record import record_objects
from kwokctl.measure.request import MeasureRequest
from kwokctl.progress import Silent
from kwokctl.tasks import beside

_WHOLE = ("namespaces", "nodes", "pods", "jobs.batch")
"""The kinds of which whole objects are recorded: a recording begins with at least one object."""


@asynccontextmanager
async def recording_whole(source: ExportSource, request: MeasureRequest) -> AsyncIterator[None]:
    """Record whole objects while inside, as `snapshot record` does, if that is wanted."""
    if request.full is None:
        yield
        return
    kinds = (*_WHOLE, *(latency.kind for latency in request.latencies))
    wanted = ExportRequest(path=request.full, kinds=kinds, resumes=False)
    begun = _Begun()
    async with beside(_to_its_end(record_objects(source, wanted, None, begun))):
        await begun.noted.wait()
        yield


async def _to_its_end(work: Awaitable[object]) -> None:
    await work


class _Begun(Silent):
    """Waits for the note with which a recording begins."""

    def __init__(self) -> None:
        self.noted = asyncio.Event()

    def note(self, text: str) -> None:
        """Take it for the beginning."""
        self.noted.set()
