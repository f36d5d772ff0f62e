"""What else is in the process of the kubelet server, which answers for its health and metrics, too."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


async def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """The controller, where it shares the process and the port."""

    is_ready: Callable[[], bool] = lambda: True
    metrics: Callable[[], Awaitable[str]] = _nothing
    """Returns its page in the Prometheus text format."""


ALONE = Companion()
"""There is nothing else."""
