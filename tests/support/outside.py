"""Programs of other environments, run without what belongs to this one's Python."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


def run(
    *words: str | Path, cwd: Path | None = None, settings: Mapping[str, str] | None = None
) -> str:
    """Run a program that must succeed and return what it wrote; `settings` join its environment."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=kept | dict(settings or {}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout
