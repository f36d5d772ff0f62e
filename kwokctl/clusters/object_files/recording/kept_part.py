"""Keeps what was recorded before an error."""

from pathlib import Path

from kwokctl.clusters.object_files.exporting.part_file import PartFile
from kwokctl.progress import Progress


def keep_part(file: PartFile, path: Path, parts: tuple[int, int], progress: Progress) -> None:
    """Keep a recording that has all objects of the beginning, and say so; `parts` are their number and that of changes."""
    file.cut()
    file.finish()
    objects, changes = parts
    progress.note(
        f"the recording so far is in '{path}' ({objects:,} objects, then {changes:,} changes)"
    )
