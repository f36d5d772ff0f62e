"""What a controller answers in a test that asks it for a part of all."""

from collections.abc import Callable

from kwokctl.controller.serving.routes import Handlers
from kwokctl.dataplane.scale_protocol import PlayedStages


def answers(
    *,
    kubelet: bytes = b"{}",
    seen: bytes | None = None,
    reserve: Callable[[bytes], bytes | None] = lambda _: None,
    stages: PlayedStages | None = None,
) -> Handlers:
    """Return the answers of a controller that is ready and has no metrics."""
    return Handlers(
        is_ready=lambda: True,
        metrics=_no_metrics,
        kubelet=kubelet,
        stages=lambda: stages,
        seen=lambda: seen,
        reserve=reserve,
    )


async def _no_metrics() -> str:
    return ""
