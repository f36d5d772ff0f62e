"""Runs the commands by which images are made."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(words: Sequence[str], *, at: Path = ROOT) -> str:
    """Run a command, and return what it writes. Raises SystemExit with its errors if it fails."""
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"'{' '.join(words[:3])} …' failed:\n{done.stderr[-2000:]}")
    return done.stdout
