"""Reads the end of a component's log: what it has said in its last run, one text a line, as a person reads it."""

import json
import re
from collections.abc import Iterator, Sequence

from kwokctl.host.logfiles import KILLED_BY
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import Runtime

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
