"""The CPU profile of this process on request: `/debug/pprof/profile`, as kubelets serve it.

The main thread is sampled a hundred times in a second of CPU time. The samples are written in the format of pprof,
which `go tool pprof` and others read; https://github.com/google/pprof/blob/main/proto/profile.proto lists the fields
by their numbers.
"""

import asyncio
import gzip
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType

from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag, varint

PERIOD = 0.01
"""CPU seconds between two samples."""
_DEEPEST = 200

Stack = tuple[tuple[CodeType, int], ...]
"""Code and line of each call, the innermost first."""


class StackSampler:
    """Counts stacks while it runs; costs nothing else."""

    def __init__(self) -> None:
        self.is_running = False
        self.stacks: Counter[Stack] = Counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count from zero while inside; there is one timer in a process, so only once at a time."""
        self.stacks = Counter()
        self.is_running = True
        former = signal.signal(signal.SIGPROF, self._note)
        signal.siginterrupt(signal.SIGPROF, False)
        signal.setitimer(signal.ITIMER_PROF, PERIOD, PERIOD)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, former)
            self.is_running = False

    def _note(self, _: int, frame: FrameType | None) -> None:
        self.stacks[tuple(_calls(frame))] += 1


def _calls(frame: FrameType | None) -> Iterator[tuple[CodeType, int]]:
    depth = 0
    while frame is not None and depth < _DEEPEST:
        yield frame.f_code, frame.f_lineno
        frame, depth = frame.f_back, depth + 1


_NANO = 10**9


def profile(stacks: Mapping[Stack, int], *, began: float, seconds: float, period: float) -> bytes:
    """Return a compressed profile from the number of samples of each stack; a sample is `period` CPU seconds."""
    made, nanos = _Profile(), int(period * _NANO)
    kinds = made.kind("samples", "count"), made.kind("cpu", "nanoseconds")
    parts = [_message(1, kind) for kind in kinds]
    parts += [_message(2, made.sample(each, n, n * nanos)) for each, n in stacks.items()]
    parts += [_message(4, body) for body in made.locations.values()]
    parts += [_message(5, body) for body in made.functions.values()]
    parts += [_message(6, text.encode()) for text in made.texts]
    parts += [_number(9, int(began * _NANO)), _number(10, int(seconds * _NANO))]
    parts += [_message(11, kinds[1]), _number(12, nanos)]
    return gzip.compress(b"".join(parts))


class _Profile:
    """The tables of a profile, to which samples refer by number."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.functions: dict[CodeType, bytes] = {}
        self.locations: dict[tuple[CodeType, int], bytes] = {}
        self._ids: dict[object, int] = {}

    def kind(self, what: str, unit: str) -> bytes:
        """Return the type of a value."""
        return _number(1, self._text(what)) + _number(2, self._text(unit))

    def sample(self, stack: Stack, *values: int) -> bytes:
        """Return a sample."""
        where = b"".join(varint(self._location(*call)) for call in stack)
        return _message(1, where) + _message(2, b"".join(map(varint, values)))

    def _location(self, code: CodeType, line: int) -> int:
        key = (code, line)
        if key not in self.locations:
            at = _number(1, self._function(code)) + _number(2, line or 0)
            self.locations[key] = _number(1, len(self.locations) + 1) + _message(4, at)
            self._ids[key] = len(self.locations)
        return self._ids[key]

    def _function(self, code: CodeType) -> int:
        if code not in self.functions:
            name, file = self._text(code.co_qualname), self._text(code.co_filename)
            body = _number(1, len(self.functions) + 1) + _number(2, name) + _number(3, name)
            self.functions[code] = body + _number(4, file) + _number(5, code.co_firstlineno)
            self._ids[code] = len(self.functions)
        return self._ids[code]

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


def _number(field: int, value: int) -> bytes:
    return tag(field, VARINT) + varint(value)


def _message(field: int, content: bytes) -> bytes:
    return sized(tag(field, LENGTH), content)


_USUAL, _LONGEST = 30.0, 300.0
"""Seconds, the first as in Go."""


def profiling_routes(wall: Callable[[], float]) -> tuple[Route, ...]:
    """Return the route; `wall` gives the POSIX time."""
    sampler = StackSampler()

    async def cpu(request: Request) -> Answer:
        seconds = _seconds(request)
        if sampler.is_running:
            raise RefusedError(503, "a profile is being taken: try again later")
        began = wall()
        with sampler.running():
            await asyncio.sleep(seconds)
        body = profile(sampler.stacks, began=began, seconds=seconds, period=PERIOD)
        return Answer(200, body, "application/octet-stream")

    return (Route(path="/debug/pprof/profile", answer=cpu),)


def _seconds(request: Request) -> float:
    given = request.parameter("seconds") or str(_USUAL)
    try:
        found = float(given)
    except ValueError:
        found = 0.0
    if not 0 < found <= _LONGEST:
        raise RefusedError(400, f"'{given}' is not a number of seconds up to {_LONGEST:.0f}")
    return found
