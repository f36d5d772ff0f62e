"""Computes the pull of a container's image from the time alone, because the status does not record it."""

from collections.abc import Iterator

import msgspec

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.containers.restarts import FIRST, LONGEST

FAILED, BACKING_OFF = "ErrImagePull", "ImagePullBackOff"
_FAILURE_SHOWN = 2.0
"""Seconds after a failed pull in which its error is shown, before the back-off is."""


class PullState(msgspec.Struct, frozen=True):
    """The progress of a pull."""

    reason: str
    """Why the container waits: "" if nothing has failed."""
    until: float
    """The time at which that changes."""
    is_done: bool = False


def pull_state(program: ContainerProgram, begin: float, now: float) -> PullState:
    """Return how far the image is that is pulled since `begin`."""
    at = begin + program.pull
    reason = ""
    for back_off in _failures(program.pull_failures):
        if now < at:
            return PullState(reason, at)
        if now < at + _FAILURE_SHOWN:
            return PullState(FAILED, at + _FAILURE_SHOWN)
        reason, at = BACKING_OFF, at + back_off
    return PullState(reason, at, is_done=now >= at)


def events_of(reason: str, image: str) -> Iterator[tuple[str, str, str]]:
    """Yield type, reason and message of what is reported when a container begins to wait for it."""
    if reason == FAILED:
        yield "Normal", "Pulling", f'Pulling image "{image}"'
        yield "Warning", "Failed", f'Failed to pull image "{image}": {_cause(image)}'
        yield "Warning", "Failed", f"Error: {FAILED}"
    elif reason == BACKING_OFF:
        yield "Normal", "BackOff", f'Back-off pulling image "{image}"'
        yield "Warning", "Failed", f"Error: {BACKING_OFF}"


def message_of(reason: str, image: str) -> str:
    """Return what the container's status says of it."""
    if reason == BACKING_OFF:
        return f'Back-off pulling image "{image}": {FAILED}: {_cause(image)}'
    return _cause(image)


def pulled(program: ContainerProgram, image: str) -> Iterator[tuple[str, str, str]]:
    """Yield type, reason and message of what is reported of an image that is there."""
    if not program.pull and not program.pull_failures:
        text = (
            f'Container image "{image}" already present on machine and can be accessed by the pod'
        )
        yield "Normal", "Pulled", text
        return
    yield "Normal", "Pulling", f'Pulling image "{image}"'
    took = f"{program.pull:g}s"
    yield (
        "Normal",
        "Pulled",
        f'Successfully pulled image "{image}" in {took} ({took} including waiting).',
    )


def _cause(image: str) -> str:
    return f'failed to pull image "{image}"'


def _failures(number: int) -> Iterator[float]:
    """Yield the seconds to wait after each pull that fails; endless if all do."""
    done = 0
    while done < number or number < 0:
        yield min(FIRST * 2.0 ** min(done, 10), LONGEST)
        done += 1
