"""Recognises in the end of a component's log why it has ended, and knows the remedy."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.host.logfiles import KILLED_BY
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import Runtime

_PATH = re.compile(r"(?<![\w/])/[^\s:'\",;)]+")
_PORT = re.compile(r":(\d+): bind: ")
_FLAG = re.compile(r"(?:unknown flag|unknown shorthand flag|not defined): '?(-[\w.-]+)")


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why a program has ended, and what to do about it."""

    what: str
    remedy: str
    line: str
    """The line that says so."""
    is_of_disk: bool = False
    """Whether a disk has no room, or cannot be written to: until that is mended no start succeeds."""


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, found by the words that programs write about it, in lower case."""

    says: tuple[str, ...]
    what: str
    """With `{path}`, `{file}`, `{port}` or `{flag}` for what the line names."""
    remedy: str
    is_of_disk: bool = False


_ELSEWHERE = "or choose a folder on another disk with KWOK_WORKDIR"
_KNOWN = (
    _Known(
        says=("no space left on device",),
        what="the disk{path} is full",
        remedy=f"free space there (etcd alone begins with 64 MB), {_ELSEWHERE}",
        is_of_disk=True,
    ),
    _Known(
        says=("disk quota exceeded",),
        what="this user's quota of the disk{path} is used up",
        remedy=f"free space there, {_ELSEWHERE}",
        is_of_disk=True,
    ),
    _Known(
        says=("read-only file system",),
        what="the disk{path} is read-only",
        remedy=f"mount it writable, {_ELSEWHERE}",
        is_of_disk=True,
    ),
    _Known(
        says=("inotify",),
        what="this user has too many inotify instances or watches",
        remedy="raise the limit: sysctl fs.inotify.max_user_instances=1024",
    ),
    _Known(
        says=("too many open files in system",),
        what="this machine has too many open files",
        remedy="raise the limit: sysctl fs.file-max, or end other programs",
    ),
    _Known(
        says=("too many open files", "file descriptor limit"),
        what="its limit of open files is too low",
        remedy="raise the limit of this shell with 'ulimit -n 4096', or that of the user with 'nofile' in "
        "/etc/security/limits.conf",
    ),
    _Known(
        says=("address already in use",),
        what="{port} is in use",
        remedy="end the program that uses it ('ss -ltnp' lists them), or choose another port for the cluster",
    ),
    _Known(
        says=("cannot assign requested address",),
        what="this machine does not have the address on which it must listen",
        remedy="choose another address with --bind-address",
    ),
    _Known(
        says=("failed to create new os thread", "pthread_create failed", "can't start new thread"),
        what="no more threads can be started",
        remedy="raise the limit of the container (--pids-limit), of the session or service (TasksMax) or of "
        "the user ('ulimit -u')",
    ),
    _Known(
        says=("cannot allocate memory", "out of memory", "oomkilled"),
        what="there is not enough memory",
        remedy="end other programs, or use fewer or smaller clusters: 'kwokctl plan' estimates what "
        "nodes and pods need",
    ),
    _Known(
        says=(f"{KILLED_BY} 9",),
        what="it was killed, most often by the kernel for lack of memory",
        remedy="see 'dmesg' or the limits of the container or service, and end other programs",
    ),
    _Known(
        says=("exec format error", "cannot execute binary file"),
        what="its program was built for another kind of processor or system",
        remedy="give one that was built for this machine",
    ),
    _Known(
        says=("error while loading shared libraries", "' not found (required by", "glibc_"),
        what="its program needs libraries that this machine does not have",
        remedy="give one that was built for this system, preferably without shared libraries",
    ),
    _Known(
        says=("unknown flag", "unknown shorthand flag", "flag provided but not defined"),
        what="it does not know the flag{flag}",
        remedy="check --extra-args, patches in --config, and the version of the program",
    ),
    _Known(
        says=("permission denied", "operation not permitted"),
        what="it may not use {file}",
        remedy="see who owns it, and its mode, with 'ls -ld'; it may also be forbidden by SELinux or AppArmor",
    ),
)  # fmt: skip
"""The first one that a line fits holds."""


def cause_in(lines: Sequence[str], *, folder: str = "") -> Cause | None:
    """Return why a program has ended by the lines that it has written; None if they give no known reason.

    Later lines count first. `folder` is where it keeps its files, for a disk that the lines do not name.
    """
    for line in reversed(lines):
        lower = line.lower()
        for known in _KNOWN:
            if found := next((each for each in known.says if each in lower), None):
                paths = [*_paths(line, found), *(p for each in lines for p in _paths(each, found))]
                what = _named(known, line, [*paths, *filter(None, [folder])])
                return Cause(what=what, remedy=known.remedy, line=line, is_of_disk=known.is_of_disk)
    return None


def _paths(line: str, says: str) -> list[str]:
    """Return the paths in a line that gives a reason: the last one before it, then those after it."""
    at = line.lower().find(says)
    if at < 0:
        return []
    before = [found[0] for found in _PATH.finditer(line[:at])]
    return [*before[-1:], *(found[0] for found in _PATH.finditer(line[at:]))]


def _named(known: _Known, line: str, paths: Sequence[str]) -> str:
    """Say a cause with what its line names, or else what another line with the same reason names."""
    port, flag = _PORT.search(line), _FLAG.search(line)
    path = _disk_of(paths[0]) if paths and known.is_of_disk else "".join(paths[:1])
    return known.what.format(
        path=f" at '{path}'" if path else "",
        file=f"'{path}'" if path else "a file or a port that it needs",
        port=f"port {port[1]}" if port else "a port on which it must listen",
        flag=f" '{flag[1]}'" if flag else "",
    )


def _disk_of(path: str) -> str:
    """Return where the disk of a file of this machine is mounted; the path itself for one that is elsewhere."""
    place = Path(path)
    if not any(each.exists() for each in list(place.parents)[:-1]):
        return path
    return str(next(each for each in (place, *place.parents) if each.is_mount()))


_SHOWN = 5
"""Lines that an error shows; the log has the others."""
_LOOKED_AT = 10
"""Lines of the beginning, and of the end, in which a reason is looked for."""
_LONGEST_STACKS = 200
"""Lines."""
_MARK = "=== "
"""The beginning of the line that kwokctl writes before each start."""
_STACK = re.compile(r"goroutine \d+ \[")
_MESSAGE = ("msg", "message")
_LEFT_OUT = frozenset(
    {*_MESSAGE, "error", "err", "ts", "time", "timestamp", "caller", "logger", "level", "severity"}
    | {"stacktrace", "stack", "v", "pid"}
)
"""Fields of a JSON line that are not shown behind its message and its error."""


async def last_run(runtime: Runtime, cluster: ClusterName, name: ComponentName) -> tuple[str, ...]:
    """Return what a component has written since it was started last, without stacks, line by line."""
    content = b"".join([part async for part in runtime.logs(cluster, name)])
    return tuple(_of_last_run(content.decode(errors="replace").splitlines()))


def ends(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a run in which a reason is looked for: the last ones, and before them the first.

    A program that does not know an argument says so first, and then how it is used.
    """
    last = max(len(lines) - _LOOKED_AT, 0)
    return tuple(map(said, (*lines[: min(_LOOKED_AT, last)], *lines[last:])))


def shown(lines: Sequence[str], reason: str = "") -> str:
    """Return the end of a log for an error, or what leads to the line with the reason if that comes earlier."""
    texts = [said(line) for line in lines]
    end = len(texts)
    if reason and reason not in texts[-_SHOWN:] and reason in texts:
        end = texts.index(reason) + 1
    return "\n".join(texts[max(end - _SHOWN, 0) : end])


def _of_last_run(lines: Sequence[str]) -> Sequence[str]:
    starts = [n for n, line in enumerate(lines) if line.startswith(_MARK) and KILLED_BY not in line]
    lines = lines[starts[-1] + 1 if starts else 0 :]
    # A Go program that panics writes the reason before the first stack.
    panicked = (
        n
        for n, line in enumerate(lines)
        if _STACK.match(line) and n >= len(lines) - _LONGEST_STACKS
    )
    return [line.rstrip() for line in lines[: next(panicked, None)] if line.strip()]


def said(line: str) -> str:
    """Return what a line says: of one in JSON the message, the error, and what else it names."""
    if not line.startswith("{"):
        return line
    try:
        fields = json.loads(line)
    except ValueError:
        return line
    return ", ".join(_texts(fields)) or line


def _texts(fields: dict[str, object]) -> Iterator[str]:
    heads = (*(fields.get(key) for key in _MESSAGE), fields.get("error"), fields.get("err"))
    if head := ": ".join(str(each).strip(": ") for each in heads if each):
        yield head
    for key, value in fields.items():
        if key not in _LEFT_OUT and isinstance(value, str | int | float) and value != "":
            yield f"{key}={value}"
