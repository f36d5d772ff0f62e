"""Takes the pictures of pages: `python docs/take_screenshots.py`, after `make docs`. It needs chromium."""

import shutil
import subprocess  # noqa: TID251 - a program of the system, for those who write the documentation
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
PICTURES = {"docs/samples/training.png": ("samples/training.html", 1280, 1720)}
"""Each picture with its page in the site, and the width and height of the window."""


def take(chromium: str, picture: Path, page: Path, width: int, height: int) -> None:
    """Write the picture of a page in the light scheme."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=5000")
        placed = (f"--user-data-dir={folder}", f"--window-size={width},{height}")
        command = [chromium, *words, *placed, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=120)


def main() -> int:
    """Take all pictures; 1 without chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stderr.write("no chromium: install the package of that name\n")
        return 1
    for picture, (page, width, height) in PICTURES.items():
        take(chromium, ROOT / picture, SITE / page, width, height)
    return 0


if __name__ == "__main__":
    sys.exit(main())
