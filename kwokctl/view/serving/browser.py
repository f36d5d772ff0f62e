"""Opens the user's browser at an address that others must not see.

The words of a process can be read by every user of the machine, so the address is not among them: the browser is given a file, which only
this user can read, and which leads there.
"""

import asyncio
import os
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path

from kwokctl.host.files import write_atomic

_FILE = "view-{}.html"
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@asynccontextmanager
async def opened_in_browser(folder: Path, address: str) -> AsyncIterator[bool]:
    """Open a browser at an address; yields whether that worked.

    The file that leads there is in `folder`, until the end.
    """
    if not _has_screen():
        # A browser in the terminal would take that over.
        yield False
        return
    file = folder / _FILE.format(os.getpid())
    refresh = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">\n'
    write_atomic(file, refresh.encode(), mode=0o600)
    try:
        yield await asyncio.to_thread(_open, file.as_uri())
    finally:
        file.unlink(missing_ok=True)


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, _SCREENS))


def _open(uri: str) -> bool:
    try:
        return webbrowser.open(uri)
    except (OSError, webbrowser.Error):
        return False
