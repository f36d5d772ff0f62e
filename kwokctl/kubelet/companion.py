"""The other program in the process of the kubelet server, which also answers for its health and metrics."""

from collections.abc import Awaitable, Callable

import msgspec


async def _nothing() -> str:
    return ""


class Companion(msgspec.Struct, frozen=True, kw_only=True):
    """The controller, where it shares the process and the port."""

    is_ready: Callable[[], bool] = lambda: True
    metrics: Callable[[], Awaitable[str]] = _nothing
    """Returns its page in the Prometheus text format."""


ALONE = Companion()
"""There is nothing else."""
