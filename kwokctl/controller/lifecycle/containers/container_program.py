"""The program of a fake container: how long it runs, its exit code, and when it is ready."""

import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.json_value import Json
from kwokctl.replacing import replace

SIGKILL = 137
"""The exit code of a program that was killed: 128 and the number of the signal."""
_BACK_OFFS = {"throughout": True, "late": False}
_NAMES = (
    "run, exit, pull, pull-failures, start, started, ready, unready, flap, sick, stop, stop-exit, "
    "reason, message, and back-off, which is 'throughout' or 'late'"
)
_TIMES = frozenset(("run", "pull", "start", "started", "ready", "unready", "flap", "sick", "stop"))
_READ: Mapping[str, Callable[[str], Json]] = {
    **dict.fromkeys(_TIMES, parse_duration),
    "reason": str,
    "message": str,
}
_NUMBERS = {"pull-failures": "pull_failures", "stop-exit": "stop_code"}
_FOREVER = {"run": None, "stop": math.inf}


class ContainerProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of a container's program, in seconds from its start."""

    run: float | None = None
    """Until it exits; None: until it is stopped."""
    exit_codes: tuple[int, ...] = (0,)
    """One for each run; the last is that of all later ones, too."""
    is_killed: bool = False
    """Whether it exits because it has used up its memory."""
    pull: float = 0.0
    """The seconds that pulling its image takes."""
    pull_failures: int = 0
    """The number of failed pulls of its image before one succeeds."""
    start: float = 1.0
    """From the moment in which it may start until it runs."""
    started: float = 0.0
    """Until its startup probe succeeds."""
    ready: float = 0.0
    """Until its readiness probe succeeds."""
    unready: float = math.inf
    """Until its readiness probe begins to fail."""
    flap: float = 0.0
    """The seconds for which it is alternately ready and unready; 0 if it does not change."""
    sick: float = math.inf
    """Until its liveness probe begins to fail."""
    shows_back_off: bool = False
    """Whether its back-off is shown throughout, as by kubelets before 1.36."""
    stop: float = 0.0
    """From the signal to end until it has ended; infinite if it ignores that."""
    stop_code: int = 0
    """Its exit code after that signal."""
    reason: str = ""
    """Why it has failed when it ends by itself with another code than 0; empty as a kubelet says it."""
    message: str = ""
    """Its termination message when it ends by itself."""

    @property
    def ignores_signals(self) -> bool:
        """Whether it runs on after the signal to end, until it is done or killed."""
        return self.stop == math.inf

    @property
    def is_healthy(self) -> bool:
        """Whether its probes succeed as soon as they are made, and as long."""
        return (
            self.started == self.ready == self.flap == 0.0 and self.unready == self.sick == math.inf
        )

    def last_words(self, code: int) -> dict[str, str]:
        """Return what the state of its container says in addition when it has ended by itself."""
        said = {
            "reason": self.reason if code and not self.is_killed else "",
            "message": self.message,
        }
        return {name: words for name, words in said.items() if words}

    def exit_code(self, restarts: int) -> int:
        """Return its exit code after a number of restarts."""
        return self.exit_codes[min(restarts, len(self.exit_codes) - 1)]


def changed(program: ContainerProgram, text: str, place: str) -> ContainerProgram:
    """Return a program with what a text says of it, such as `run=30s exit=1,0`.

    Raises ExpressionError, which names the place of the text.
    """
    given: dict[str, Any] = {}
    for name, value in _pairs(text, place):
        try:
            given |= _field(name, value)
        except (ExpressionError, ValueError) as e:
            raise ExpressionError(
                f"{place}: '{name}={value}' cannot be read: {e}",
                hint="for example: run=30s exit=1,0 ready=5s",
            ) from e
    return replace(program, **given)


def _pairs(text: str, place: str) -> Iterator[tuple[str, str]]:
    for word in _words(text, place):
        name, is_there, value = word.partition("=")
        if not is_there:
            raise ExpressionError(
                f"{place}: '{word}' is not NAME=VALUE",
                hint="for example: run=30s exit=1,0 ready=5s",
            )
        yield name, value


def _words(text: str, place: str) -> list[str]:
    """Part the words of a text; those with spaces are in quotes, as for a shell."""
    if '"' not in text and "'" not in text:
        return text.split()
    try:
        return shlex.split(text)
    except ValueError as e:
        raise ExpressionError(
            f"{place}: '{text}' cannot be read: {e}", hint="for example: run=30s message='all lost'"
        ) from e


def _field(name: str, value: str) -> dict[str, Json]:
    match name:
        case "exit" if value == "oom":
            return {"exit_codes": (SIGKILL,), "is_killed": True}
        case "exit":
            return {"exit_codes": tuple(int(code) for code in value.split(","))}
        case "back-off" if value in _BACK_OFFS:
            return {"shows_back_off": _BACK_OFFS[value]}
        case "run" | "stop" if value == "forever":
            return {name: _FOREVER[name]}
        case _ if name in _NUMBERS:
            return {_NUMBERS[name]: int(value)}
        case _ if name in _READ:
            return {name: _READ[name](value)}
        case _:
            raise ValueError(f"names are {_NAMES}")
