"""Records whole objects beside lean lines, as `snapshot record` does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager

from kwokctl.clusters.object_files.exporting.export import ExportRequest, ExportSource
from kwokctl.clusters.object_files.recording.record import record_objects
from kwokctl.kube.resource import NAMESPACES
from kwokctl.measure.running.request import MeasureRequest
from kwokctl.measure.watching.recorder import Followed
from kwokctl.progress import Silent
from kwokctl.tasks import beside


@asynccontextmanager
async def recording_whole(
    source: ExportSource, request: MeasureRequest, followed: Iterable[Followed]
) -> AsyncIterator[None]:
    """Record whole objects of all that is followed while inside, as `snapshot record` does, if that is wanted.

    Namespaces are recorded, too: a recording begins with at least one object.
    """
    if request.full is None:
        yield
        return
    resources = (NAMESPACES, *(each.resource for each in followed))
    kinds = tuple(f"{each.plural}.{each.group}".rstrip(".") for each in resources)
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
