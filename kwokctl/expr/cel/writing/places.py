"""Maps lines of the generated Python to parts of the expression: each line begins with one.

A comment at the end of a line holds the offset of the part that begins with the next one.
"""

from traceback import walk_tb
from types import TracebackType


def mark(at: int) -> str:
    """Return what comes before the Python for a part that is at an offset."""
    return f"#{at}\n"


def place_of(written: str, file: str, traceback: TracebackType | None) -> int | None:
    """Return the offset of the part whose Python, compiled with a name of its file, failed."""
    lines = [line for frame, line in walk_tb(traceback) if frame.f_code.co_filename == file]
    if not lines or lines[-1] < 2:
        return None
    return int(written.splitlines()[lines[-1] - 2].rpartition("#")[2])
