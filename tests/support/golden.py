"""Compares a result with the file that holds what was expected; `make golden` rewrites the files."""

import os
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "golden"
_REWRITE = bool(os.environ.get("KWOKCTL_REWRITE_GOLDEN"))


def check(name: str, text: str) -> None:
    """Compare `text` with `tests/golden/NAME`, or write it there when asked to."""
    path = _FOLDER / name
    if _REWRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def read(name: str) -> str:
    """Return what `tests/golden/NAME` holds."""
    return (_FOLDER / name).read_text(encoding="utf-8")
