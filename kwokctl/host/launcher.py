"""Starts programs that outlive us, in a way that leaves no moment in which nobody knows of them.

The child writes its own pid file before it becomes the program, so a command that is killed at any
moment leaves nothing unseen. A shell does this in a millisecond; a Python child would need ten.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_SHELL = "/bin/sh"
# Field 22 of /proc/PID/stat is the start time in clock ticks since boot (proc(5)); together with
# the boot it tells a process from a later one of the same number. exec keeps both.
_BECOME = """
pid_file=$1; folder=$2; shift 2
cd "$folder" || exit 126
read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ < /proc/$$/stat
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ $start $boot" > "$pid_file" || exit 126
exec "$@"
"""


def launch(
    argv: Sequence[str], *, pid_file: Path, log: Path, folder: Path, env: Mapping[str, str]
) -> int:
    """Start a program in a session of its own and return its pid.

    It appends what it writes to `log` and works in `folder`; `env` adds to our environment. What
    cannot be executed shows in the log and ends at once with status 126 or 127.
    """
    words = [_SHELL, "-c", _BECOME, "sh", str(pid_file), str(folder), *argv]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        _SHELL,
        words,
        {**os.environ, **env},
        setsid=True,
        setsigdef=range(1, 32),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
