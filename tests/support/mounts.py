"""Mounts that only some processes see: with them another user runs programs that lie in folders closed to them."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import pytest

_REPOSITORY = Path(__file__).parents[2]
_OTHERS_MAY_ENTER = 0o001


def as_user(keeper: int, uid: int, gid: int, folder: Path) -> list[str]:
    """Return the words that run a command as a user, in a folder, with the mounts of a process."""
    # The folder that nsenter itself changes to is one of the other mounts: no link could lead out of it.
    enter = ("nsenter", f"--mount=/proc/{keeper}/ns/mnt", "env", f"--chdir={folder}")
    return [*enter, "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]


@contextmanager
def kept(commands: Callable[[Path], Iterator[str]]) -> Iterator[int]:
    """Keep a process with the mounts that shell commands make; yield its id.

    The commands are given a folder for what they need. Skips the test where there can be no such mounts.
    """
    at = Path(tempfile.mkdtemp(prefix="kwokctl-user-"))
    script = "\n".join(["set -e", *commands(at), "echo ready", "exec cat"])
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as keeper:  # fmt: skip
        assert keeper.stdout
        assert keeper.stderr
        assert keeper.stdin
        try:
            if keeper.stdout.readline().strip() != "ready":
                pytest.skip(f"no mounts of a user's own: {keeper.stderr.read().strip()}")
            yield keeper.pid
        finally:
            keeper.stdin.close()
            keeper.wait(60)
            shutil.rmtree(at, ignore_errors=True)


def opening(at: Path) -> Iterator[str]:
    """Yield the commands that show another user this Python, its packages and the checkout, and nothing else of closed folders."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), _REPOSITORY]
    closed = {folder for path in needed if (folder := _closed(path))}
    for number, folder in enumerate(sorted(closed)):
        behind = at / str(number)
        yield f"mkdir {behind} && mount --bind {folder} {behind}"
        yield f"mount -t tmpfs -o mode=755 tmpfs {folder}"
        for path in (path for path in needed if path.is_relative_to(folder)):
            inside = quote(str(behind / path.relative_to(folder)))
            yield f"mkdir -p {quote(str(path))} && mount --bind {inside} {quote(str(path))}"


def _closed(path: Path) -> Path | None:
    """Return the first folder on the way to a path that others may not enter."""
    ways = reversed([path, *path.parents])
    return next((each for each in ways if not each.stat().st_mode & _OTHERS_MAY_ENTER), None)
