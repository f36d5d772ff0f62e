"""Computes the pull of a container's image from the time alone, because the status does not record it."""

import math
from collections.abc import Iterator
from itertools import count

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


class PullBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which no image can be pulled."""

    since: float = -math.inf
    """As a POSIX time stamp."""
    until: float = math.inf
    reason: str = ""
    """In place of FAILED."""
    cause: str = ""

    def covers(self, at: float) -> bool:
        """Return whether a pull fails that ends at a time."""
        return self.since <= at <= self.until


def pull_state(
    program: ContainerProgram, begin: float, now: float, block: PullBlock | None = None
) -> PullState:
    """Return how far the image is that is pulled since `begin`, with a time in which pulls fail."""
    at, number = begin + program.pull, program.pull_failures
    reason = ""
    for done in count():
        if now < at:
            break
        if 0 <= number <= done and not (block is not None and block.covers(at)):
            return PullState(reason, at, is_done=True)
        if now < at + _FAILURE_SHOWN:
            return PullState(FAILED, at + _FAILURE_SHOWN)
        reason, at = BACKING_OFF, at + min(FIRST * 2.0 ** min(done, 10), LONGEST)
    return PullState(reason, at)


def events_of(
    reason: str, image: str, block: PullBlock | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield type, reason and message of what is reported when a container begins to wait for it."""
    if reason == FAILED:
        yield "Normal", "Pulling", f'Pulling image "{image}"'
        yield "Warning", "Failed", f'Failed to pull image "{image}": {_cause(image, block)}'
        yield "Warning", "Failed", f"Error: {FAILED}"
    elif reason == BACKING_OFF:
        yield "Normal", "BackOff", f'Back-off pulling image "{image}"'
        yield "Warning", "Failed", f"Error: {BACKING_OFF}"


def message_of(reason: str, image: str, block: PullBlock | None = None) -> str:
    """Return what the container's status says of it."""
    if reason == BACKING_OFF:
        return f'Back-off pulling image "{image}": {FAILED}: {_cause(image, block)}'
    return _cause(image, block)


def pulled(
    program: ContainerProgram, image: str, *, had_failed: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield type, reason and message of what is reported of an image that is there."""
    if not (program.pull or program.pull_failures or had_failed):
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


def shown_reason(reason: str, block: PullBlock | None) -> str:
    """Return the reason that a status shows: that of the block in place of FAILED, if it has one of its own."""
    own = block.reason if block is not None else ""
    return own if own and own != BACKING_OFF and reason == FAILED else reason


def _cause(image: str, block: PullBlock | None) -> str:
    if block is not None and block.cause:
        return block.cause
    return f'failed to pull image "{image}"'
