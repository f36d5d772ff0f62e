"""Copies programs from one store to another, such as a folder that is carried to another machine."""

import shutil
from collections.abc import Collection
from pathlib import Path

from kwokctl.artifacts.store import Entry, ProgramStore, changed, digest
from kwokctl.host.files import scratch_folder
from kwokctl.progress import Progress


def copy_entries(
    entries: Collection[Entry], target: ProgramStore, *, scratch: Path, progress: Progress
) -> list[Entry]:
    """Copy programs into a store unless it has them; return those that were copied.

    `scratch` is a folder on the file system of the target. Raises ArtifactError for a program that
    is not what its record says: nothing of it gets into the target.
    """
    copied = []
    missing = [entry for entry in entries if not _has(target, entry)]
    with (
        scratch_folder(scratch) as folder,
        progress.step("Copying programs", total=sum(e.size for e in missing), unit="B") as step,
    ):
        for entry in missing:
            step.say(f"{entry.name} {entry.version}")
            copied.append(_copy(entry, target, folder))
            step.advance(entry.size)
    return copied


def _has(target: ProgramStore, entry: Entry) -> bool:
    found = target.find(entry.name, entry.version)
    return found is not None and found.sha256 == entry.sha256


def _copy(entry: Entry, target: ProgramStore, folder: Path) -> Entry:
    file = Path(shutil.copyfile(entry.path, folder / entry.name))
    if digest(file) != entry.sha256:
        raise changed(entry)
    return target.publish(
        file,
        name=entry.name,
        version=entry.version,
        source=entry.source,
        origin=entry.origin,
        checksum=entry.checksum,
    )
