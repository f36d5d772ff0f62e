"""The runtime that `docs/how-to/write-a-runtime.md` shows, installed as its readers install it."""

import re
import sys
from pathlib import Path

from tests.support.outside import run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-runtime.md"
NAME = "polite"

_FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """Return the files that the page shows, by their names."""
    return dict(_FILE.findall(PAGE.read_text(encoding="utf-8")))


def install(folder: Path) -> Path:
    """Write the package into a folder and install it beside; returns where it is installed.

    It is built with what this environment has: nothing is fetched.
    """
    source, target = folder / "source", folder / "installed"
    source.mkdir()
    for name, text in files().items():
        (source / name).write_text(text, encoding="utf-8")
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "install", *options, "--target", target, source)
    return target
