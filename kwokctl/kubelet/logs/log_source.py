"""The port to the lines of one container's log."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol

from kwokctl.kubelet.fleet.views import ContainerView, PodFinder, PodView
from kwokctl.kubelet.logs.log_lines import LogLine
from kwokctl.kubelet.logs.log_query import LogQuery

HasEnded = Callable[[], Awaitable[bool]]
"""Tells whether a container has ended, or its pod was deleted: then nothing more is written."""

LOOK_AGAIN = 5.0
"""Seconds between looks at a container whose log is followed."""


def end_of(fleet: PodFinder, pod: PodView, container: ContainerView) -> HasEnded:
    """Return what tells whether this very container has ended: one that was started again is another."""

    async def has_ended() -> bool:
        now = await fleet.pod(pod.namespace, pod.name)
        found = now.container(container.name) if now is not None and now.uid == pod.uid else None
        return found is None or found.restarts != container.restarts or bool(found.finished_at)

    return has_ended


class LogSource(Protocol):
    """The lines of a log, oldest first."""

    def lines(
        self, query: LogQuery, has_ended: HasEnded
    ) -> AsyncGenerator[Sequence[LogLine], None]:
        """Yield lines, many at a time, from the first one that may be wanted.

        With `follow` it continues with later lines, until the container has ended.
        """
        ...
