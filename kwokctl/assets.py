"""Finds the data files of `templates/`: inside the installed package, or beside it in a checkout."""

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """Return the folder that holds the data files."""
    package = Path(__file__).resolve().parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def path(name: str) -> Path:
    """Return the path of the data file `name`, such as `stages/pod-ready.yaml`."""
    return root() / name


def text(name: str) -> str:
    """Return the content of the data file `name`."""
    return path(name).read_text(encoding="utf-8")
