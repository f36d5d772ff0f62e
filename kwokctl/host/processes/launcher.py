"""Starts programs that outlive kwokctl; at every moment a lock or a pid file identifies them.

The child writes its own pid file before it becomes the program, and until then it holds the lock
under which it was launched. So a later command that takes this lock finds the child, even if the
first command was killed while it launched it. A shell needs a millisecond for this; a Python child
would need ten.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from kwokctl.host.processes.holding import DESCRIPTOR

_FileAction: TypeAlias = tuple[int, int, str, int, int] | tuple[int, int, int]
_SHELL = "/bin/sh"
# Field 22 of /proc/PID/stat is the start time in clock ticks since boot (proc(5)); together with
# the boot it distinguishes a process from a later one of the same number. exec keeps both.
# Standard input is the lock: to replace it is to let go of it.
BECOME = """
pid_file=$1; folder=$2; shift 2
cd "$folder" || exit 126
read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ < /proc/$$/stat
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ $start $boot" > "$pid_file" || exit 126
exec "$@" < /dev/null
"""
"""Run by a shell with pid file, folder, program and arguments; scripts of a dry run use it, too."""
_PREFIX = b"\0".join(word.encode() for word in (_SHELL, "-c", BECOME, ""))

FAILED = frozenset({126, 127})
"""Exit statuses of a child that could not become its program."""


def launch(  # noqa: PLR0913 - all that a child is given
    argv: Sequence[str],
    *,
    pid_file: Path,
    log: Path,
    folder: Path,
    env: Mapping[str, str],
    lock: int | None = None,
    held_by: int | None = None,
) -> int:
    """Start a program in a session of its own and return its pid.

    It appends what it writes to `log` and works in `folder`; `env` adds to our environment. `lock`
    is the descriptor of a lock that the child shares until it becomes the program, `held_by` that of
    a pipe that it reads a file from. What cannot be executed says so in the log and ends with a
    status in `FAILED`.
    """
    words = [_SHELL, "-c", BECOME, "sh", str(pid_file), str(folder), *argv]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return spawn(
        words,
        env,
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        if lock is None
        else (os.POSIX_SPAWN_DUP2, lock, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *([] if held_by is None else [(os.POSIX_SPAWN_DUP2, held_by, DESCRIPTOR)]),
    )


def spawn(words: list[str], env: Mapping[str, str], *files: _FileAction) -> int:
    """Start a program in a session of its own, and return its pid; `env` adds to our environment.

    The first word is the path of the program, `files` are actions of `os.posix_spawn`.
    """
    with _as_batch(), _with_all_files():
        return os.posix_spawn(
            words[0],
            words,
            {**os.environ, **env},
            setsid=True,
            setsigdef=range(1, 32),
            file_actions=files,
        )


@contextmanager
def _with_all_files() -> Iterator[None]:
    """Raise the limit of open files for the children that are started here: programs in Go do so themselves.

    The lower limit, often 1,024, is for programs that cannot handle higher numbers; none of ours is one.
    """
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def _as_batch() -> Iterator[None]:
    """Run the children that are made here without preempting others, where that is allowed.

    On few processors programs that wake each other up would interrupt each other all the time
    (SCHED_BATCH of sched(7)). A policy that the user has set, such as by `chrt --idle`, stays.
    """
    priority = os.sched_param(0)
    is_ours = os.sched_getscheduler(0) == os.SCHED_OTHER
    try:
        if is_ours:
            os.sched_setscheduler(0, os.SCHED_BATCH, priority)
    except PermissionError:
        is_ours = False
    try:
        yield
    finally:
        # posix_spawn(3) itself knows no such policy: the child has it from us.
        if is_ours:
            os.sched_setscheduler(0, os.SCHED_OTHER, priority)


def is_on_its_way(pid: int) -> bool:
    """Return whether a launched child has not become its program yet."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    # Empty for the moment in which the kernel exchanges one program for the other.
    return not words or words.startswith(_PREFIX)
