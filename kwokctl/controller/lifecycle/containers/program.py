"""What the program of a fake container does: how long it runs, with what it exits, when it is ready.

A pod's annotation says so, else the container's own command does where it is one that can be read:
`sleep 30`, `false`, or `sh -c "sleep 5; exit 3"`. Programs such as `sleep` and shells handle no signals,
and Linux delivers none without a handler to the first process of a container (pid_namespaces(7)): they
run on after SIGTERM, until they are done or killed.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.json_value import Json
from kwokctl.replacing import replace

ANNOTATION = "kwokctl.dev/program"
"""For all containers of a pod."""
ANNOTATION_OF = "program.kwokctl.dev/"
"""With the name of a container behind it: for this one, before the other."""
SIGKILL = 137
"""The exit code of a program that was killed: 128 and the number of the signal."""
_FINITE = 1.0
"""Seconds that a program runs of which nothing is known, in a pod that is to end."""
_BACK_OFFS = {"throughout": True, "late": False}
_NAMES = (
    "run, exit, pull, pull-failures, start, started, ready, unready, flap, sick, stop, stop-exit, "
    "and back-off, which is 'throughout' or 'late'"
)
_TIMES = frozenset(("run", "pull", "start", "started", "ready", "unready", "flap", "sick", "stop"))
_NUMBERS = {"pull-failures": "pull_failures", "stop-exit": "stop_code"}
_FOREVER = {"run": None, "stop": math.inf}
_SHELLS = frozenset(("sh", "bash", "ash", "dash"))
_BETWEEN = re.compile(r"\s*(?:;|&&|\n)\s*")


class ContainerProgram(msgspec.Struct, frozen=True, kw_only=True):
    """What happens in a container, in seconds from its start."""

    run: float | None = None
    """Until it exits; None: until it is stopped."""
    exit_codes: tuple[int, ...] = (0,)
    """One for each run; the last is that of all later ones, too."""
    is_killed: bool = False
    """Whether it exits because it has used up its memory."""
    pull: float = 0.0
    """How long its image is pulled."""
    pull_failures: int = 0
    """How often its image cannot be pulled, before it can."""
    start: float = 1.0
    """From the moment in which it may start until it runs."""
    started: float = 0.0
    """Until its startup probe succeeds."""
    ready: float = 0.0
    """Until its readiness probe succeeds."""
    unready: float = math.inf
    """Until its readiness probe begins to fail."""
    flap: float = 0.0
    """How long it is ready, and unready, in turns; 0 if that does not change."""
    sick: float = math.inf
    """Until its liveness probe begins to fail."""
    shows_back_off: bool = False
    """Whether its back-off is shown throughout, as by kubelets before 1.36."""
    stop: float = 0.0
    """From the signal to end until it has ended; infinite if it ignores that."""
    stop_code: int = 0
    """Its exit code after that signal."""

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

    def exit_code(self, restarts: int) -> int:
        """Return what it exits with after so many restarts."""
        return self.exit_codes[min(restarts, len(self.exit_codes) - 1)]


def program_of(
    container: Mapping[str, Any], annotations: Mapping[str, str], *, ends: bool
) -> ContainerProgram:
    """Return what a container does; `ends` says whether programs of this pod end by themselves.

    Raises ExpressionError where an annotation cannot be read.
    """
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    own = ANNOTATION_OF + container["name"]
    texts = annotations.get(ANNOTATION), annotations.get(own)
    return _program(words, own, *texts, ends=ends)


@lru_cache(maxsize=1024)
def _program(
    words: Sequence[str], own: str, for_all: str | None, for_one: str | None, *, ends: bool
) -> ContainerProgram:
    program = read_words(words) or ContainerProgram(run=_FINITE if ends else None)
    for key, text in ((ANNOTATION, for_all), (own, for_one)):
        if text:
            program = _changed(program, text, key)
    return program


def read_words(words: Sequence[str]) -> ContainerProgram | None:
    """Return what a command does; None for one of which nothing is known."""
    match [word.rpartition("/")[2] if at == 0 else word for at, word in enumerate(words)]:
        case ["true"]:
            return ContainerProgram(run=0.0)
        case ["false"]:
            return ContainerProgram(run=0.0, exit_codes=(1,))
        case ["sleep", length]:
            slept = _slept(length)
            return None if slept is None else _sleeper(slept)
        case [shell, "-c", script] if shell in _SHELLS:
            return _read_script(script)
    return None


def _read_script(script: str) -> ContainerProgram | None:
    """Read a script of nothing but `sleep`, `echo`, `true` and, at its end, `exit` or `false`."""
    run, code = 0.0, 0
    for words in (part.split() for part in _BETWEEN.split(script.strip()) if part):
        match words:
            case ["sleep", length] if (slept := _slept(length)) is not None:
                run += slept
            case ["exit", number] if number.isdecimal() and int(number) < 256:
                return _sleeper(run, int(number))
            case ["true" | "echo", *_]:
                code = 0
            case ["false"]:
                code = 1
            case _:
                return None
    return _sleeper(run, code)


def _sleeper(run: float, code: int = 0) -> ContainerProgram:
    is_endless = run == math.inf
    return ContainerProgram(run=None if is_endless else run, exit_codes=(code,), stop=math.inf)


def _slept(length: str) -> float | None:
    """Return the seconds of an argument of `sleep`, as coreutils read it; None if they do not."""
    if length in {"inf", "infinity"}:
        return math.inf
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)([smhd]?)", length)
    return float(found[1]) * units[found[2] or "s"] if found else None


def _changed(program: ContainerProgram, text: str, key: str) -> ContainerProgram:
    given: dict[str, Any] = {}
    for name, value in _pairs(text, key):
        try:
            given |= _field(name, value)
        except (ExpressionError, ValueError) as e:
            raise ExpressionError(
                f"annotation '{key}': '{name}={value}' cannot be read: {e}",
                hint="for example: run=30s exit=1,0 ready=5s",
            ) from e
    return replace(program, **given)


def _pairs(text: str, key: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        name, is_there, value = word.partition("=")
        if not is_there:
            raise ExpressionError(
                f"annotation '{key}': '{word}' is not NAME=VALUE",
                hint="for example: run=30s exit=1,0 ready=5s",
            )
        yield name, value


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
        case _ if name in _TIMES:
            return {name: parse_duration(value)}
        case _:
            raise ValueError(f"names are {_NAMES}")
