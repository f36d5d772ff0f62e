"""The path of a CPU profile of this process."""

import asyncio
from collections.abc import Callable

from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.routes import Route
from kwokctl.kubelet.profiling.pprof import profile
from kwokctl.kubelet.profiling.sampler import PERIOD, StackSampler

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
