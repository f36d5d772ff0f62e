"""The user's default configuration, `kwok.yaml` in the work folder: rewriting and removing it."""

from collections.abc import Sequence
from pathlib import Path

from kwokctl.expr import yaml
from kwokctl.host.files import write_atomic
from kwokctl.host.paths import WorkDir
from kwokctl.json_value import Json


def default_file(workdir: WorkDir) -> Path:
    """Return where it is."""
    return workdir.root / "kwok.yaml"


def rewrite(file: Path, documents: Sequence[Json]) -> bool:
    """Write these documents to a file; return whether its content has changed."""
    text = yaml.dump_all(documents)
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, text, mode=0o600)
    return True


def reset(workdir: WorkDir) -> bool:
    """Remove the default file; return whether there was one."""
    file = default_file(workdir)
    was_there = file.is_file()
    file.unlink(missing_ok=True)
    return was_there
