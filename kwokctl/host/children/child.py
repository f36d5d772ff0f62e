"""Runs a program whose input and output others follow while it runs, perhaps at a terminal.

It has a session of its own, and ends with all that it has started in its group, at a terminal in its
session: nothing of it is left when it has ended, or when it is not needed any more.
"""

import asyncio
import errno
import os
import shutil
import signal
import struct
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from kwokctl.host.children.pipes import ReadEnd, WriteEnd, until_ready


def end_session(leader: int) -> None:
    """Kill every process of a session, except its leader, which has ended but is not waited for.

    Until it is waited for, its number cannot be that of another session.
    """
    for pid in _members(leader):
        with suppress(ProcessLookupError, PermissionError):
            _kill(pid, leader)


def _members(leader: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != leader:
            with suppress(ProcessLookupError, PermissionError):
                if os.getsid(int(entry.name)) == leader:
                    yield int(entry.name)


def _kill(pid: int, leader: int) -> None:
    """Kill a process if it still is the one that was found."""
    descriptor = os.pidfd_open(pid)
    try:
        if os.getsid(pid) == leader:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)


_GRACE = 2.0
"""Seconds between the signal to end and the one that cannot be caught."""
_SHELL = "/bin/sh"
# The leader of a session that opens a terminal gets it as its own (credentials(7), tty_ioctl(4)).
_AT_TERMINAL = ': <>"$1" && shift && exec "$@"'


class ChildOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The command of a program, with its environment, folder, user and streams."""

    argv: Sequence[str]
    env: Mapping[str, str]
    """The whole environment."""
    folder: str | None = None
    user: int | None = None
    group: int | None = None
    """Numbers; ours if there are none."""
    has_input: bool = False
    has_terminal: bool = False
    """One for input, output and errors, instead of pipes."""


@dataclass(slots=True)
class Child:
    """A program that runs."""

    process: subprocess.Popen[bytes]
    terminal: int | None
    """The descriptor of our side of its terminal."""
    stdin: WriteEnd | None
    stdout: ReadEnd
    stderr: ReadEnd | None
    _pidfd: int = field(init=False)

    def __post_init__(self) -> None:
        self._pidfd = os.pidfd_open(self.process.pid)

    async def wait(self) -> int:
        """Return its exit status when it has ended, 128 + N after signal N, and end what it left."""
        await self._until_ended()
        await self._end_others()
        status = self.process.wait()
        self.stdout.hurry()
        if self.stderr is not None:
            self.stderr.hurry()
        return status if status >= 0 else 128 - status

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of its terminal."""
        if self.terminal is not None:
            import fcntl  # neither is on Windows
            import termios

            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def stop(self) -> None:
        """End it and its group, if they have not ended; at once if we are cancelled again."""
        try:
            self._signal(signal.SIGTERM if self.terminal is None else signal.SIGHUP)
            await self._within_grace()
        finally:
            self._signal(signal.SIGKILL)
            try:
                await self._within_grace()
                await self._end_others()
            finally:
                self.process.poll()
                self._close()

    def abandon(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    async def _until_ended(self) -> None:
        if self.process.returncode is None:
            loop = asyncio.get_running_loop()
            await until_ready(self._pidfd, loop.add_reader, loop.remove_reader)

    async def _end_others(self) -> None:
        """End what is left of its group; at a terminal also of its session, where jobs have groups."""
        self._signal(signal.SIGKILL)
        if self.terminal is not None and self.process.returncode is None:
            await asyncio.to_thread(end_session, self.process.pid)

    async def _within_grace(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._until_ended()

    def _signal(self, number: signal.Signals) -> None:
        # Until the program is waited for, no other process can have its number.
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def _close(self) -> None:
        os.close(self._pidfd)
        for end in (self.stdin, self.stdout, self.stderr):
            if end is not None:
                end.close()
        if self.terminal is not None:
            os.close(self.terminal)


@asynccontextmanager
async def running(options: ChildOptions) -> AsyncIterator[Child]:
    """Run a program while inside; it is ended in the end.

    Raises OSError, with the name of the file that is missing or may not be used, if it cannot be
    started.
    """
    child = await _started(options)
    try:
        yield child
    finally:
        await child.stop()


async def _started(options: ChildOptions) -> Child:
    """Start a program in a thread: until it is loaded, its caller is blocked."""
    start = _start_at_terminal if options.has_terminal else _start
    starting = asyncio.get_running_loop().run_in_executor(None, start, options)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_abandon)
        raise


def _abandon(starting: asyncio.Future[Child]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        starting.result().abandon()


def _start(options: ChildOptions) -> Child:
    stdin = subprocess.PIPE if options.has_input else subprocess.DEVNULL
    process = _launch(options, options.argv, (stdin, subprocess.PIPE, subprocess.PIPE))
    return Child(
        process=process,
        terminal=None,
        stdin=WriteEnd(_taken(process.stdin)) if options.has_input else None,
        stdout=ReadEnd(_taken(process.stdout)),
        stderr=ReadEnd(_taken(process.stderr)),
    )


def _taken(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    with pipe:
        return os.dup(pipe.fileno())


def _start_at_terminal(options: ChildOptions) -> Child:
    _check_program(options)
    ours, theirs = os.openpty()
    try:
        if options.user is not None:
            os.fchown(theirs, options.user, -1)
        argv = (_SHELL, "-c", _AT_TERMINAL, _SHELL, os.ttyname(theirs), *options.argv)
        process = _launch(options, argv, (theirs, theirs, theirs))
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return Child(
        process=process,
        terminal=ours,
        stdin=WriteEnd(os.dup(ours)) if options.has_input else None,
        stdout=ReadEnd(os.dup(ours)),
        stderr=None,
    )


def _check_program(options: ChildOptions) -> None:
    """Raise FileNotFoundError for a program that the shell would not find."""
    name = options.argv[0]
    if "/" not in name and shutil.which(name, path=options.env.get("PATH")) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def _launch(
    options: ChildOptions, argv: Sequence[str], streams: tuple[int, int, int]
) -> subprocess.Popen[bytes]:
    is_other = options.user is not None or options.group is not None
    return subprocess.Popen(
        argv,
        bufsize=0,
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        env=options.env,
        cwd=options.folder,
        user=options.user,
        group=options.group,
        extra_groups=() if is_other else None,
        start_new_session=True,
    )
