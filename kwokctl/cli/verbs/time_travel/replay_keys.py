"""Keys that hold a replay, and let it run faster or slower."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock

HELP = "Space pauses, Enter continues, U is faster, D slower"


def is_possible() -> bool:
    """Return whether there is a terminal to read keys from."""
    return os.name == "posix" and sys.stdin is not None and sys.stdin.isatty()


@contextmanager
def read_keys(clock: "ReplayClock") -> Iterator[None]:
    """Do what keys say as long as the block runs; nothing without a terminal."""
    if not is_possible():
        yield
        return
    import termios  # neither is on Windows
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    loop = asyncio.get_running_loop()
    tty.setcbreak(terminal)
    loop.add_reader(terminal, lambda: press(clock, os.read(terminal, 64)))
    try:
        yield
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def press(clock: "ReplayClock", keys: bytes) -> None:
    """Do what keys say; others say nothing."""
    meant: Mapping[str, Callable[[], None]] = {
        " ": clock.pause,
        "\n": clock.resume,
        "\r": clock.resume,
        "u": clock.faster,
        "d": clock.slower,
    }
    for key in keys.decode(errors="replace").lower():
        if key in meant:
            meant[key]()
