"""Records a cluster: its objects, and then their changes, until it is interrupted."""

import time
from pathlib import Path

import msgspec

from kwokctl.clusters.object_files.exporting.chosen_kinds import ChosenKinds, chosen_kinds
from kwokctl.clusters.object_files.exporting.export import ExportRequest, ExportSource, scrubber_of
from kwokctl.clusters.object_files.exporting.part_file import PartFile
from kwokctl.clusters.object_files.recording.kept_part import keep_part
from kwokctl.clusters.object_files.recording.patch_lists import patch_schemas
from kwokctl.clusters.object_files.recording.recorder import Recorder, unchanged
from kwokctl.clusters.object_files.rules.applying import Scrubber
from kwokctl.clusters.object_files.time_offsets import relative
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.time_travel.reach import reached
from kwokctl.errors import KwokctlError
from kwokctl.kube.client import Client
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.model import ClusterName
from kwokctl.progress import Progress, Step
from kwokctl.tasks import until_its_end


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a recording."""

    path: Path
    size: int
    objects: int
    """Objects that there were in the beginning."""
    changes: int
    unknown: tuple[str, ...]
    """Kinds that were chosen, and that the cluster does not have."""
    lacks_secrets: bool
    """Whether Secrets were left out because they were not chosen."""


async def record_objects(
    source: ExportSource, request: ExportRequest, seconds: float | None, progress: Progress
) -> Recorded:
    """Record any cluster for a number of seconds, or until the task is cancelled."""
    async with source.connected() as (_, pool):
        return await _Recording(Client(pool), request, progress).run(seconds)


async def record_cluster(
    home: Home, name: ClusterName, request: ExportRequest, seconds: float | None
) -> Recorded:
    """Record a cluster of this kwokctl that runs."""
    async with reached(home, name) as reach:
        return await _Recording(reach.client, request, home.progress).run(seconds)


class _Recording:
    def __init__(self, client: Client, request: ExportRequest, progress: Progress) -> None:
        self._client = client
        self._request = request
        self._progress = progress
        self._objects = self._changes = 0
        self._has_begun = False

    async def run(self, seconds: float | None) -> Recorded:
        request = self._request
        served = await served_kinds(self._client)
        choice = await chosen_kinds(
            self._client, served, request.kinds, with_secrets=request.with_secrets
        )
        file = PartFile(request.path, "", force=request.force, resumes=False)
        with file, self._progress.step("Recording", unit="changes") as step:
            try:
                salt = file.journal.salt
                scrubber = await scrubber_of(self._client, served, request.rules, salt)
                work = self._record(file, choice, scrubber, step)
                await until_its_end(work, seconds, has_begun=lambda: self._objects > 0)
            except KwokctlError:
                if self._has_begun:
                    parts = self._objects, self._changes
                    keep_part(file, request.path, parts, self._progress)
                raise
            size = file.finish()
        return Recorded(
            path=request.path,
            size=size,
            objects=self._objects,
            changes=self._changes,
            unknown=tuple(choice.unknown),
            lacks_secrets=choice.lacks_secrets,
        )

    async def _record(
        self, file: PartFile, choice: ChosenKinds, scrubber: Scrubber | None, step: Step
    ) -> None:
        resources = [kind.resource for kind in choice.kinds]
        schemas = await patch_schemas(self._client, resources)
        start = time.time_ns()
        scrub = scrubber.scrubbed if scrubber else unchanged
        recorder = Recorder(self._client.pool, resources, schemas, scrub, time.monotonic_ns)
        kinds = len(resources)
        async for documents in recorder.documents():
            file.write([relative(document, start) for document in documents])
            if kinds:
                kinds -= 1
                self._objects += len(documents)
                if not kinds:
                    self._has_begun = True
                    self._progress.note(f"recording {self._objects:,} objects; end it with Ctrl-C")
            else:
                self._changes += len(documents)
                step.advance(len(documents))
