"""An engine that serves the log of one container, in the configured pieces."""

from collections.abc import Iterator, Sequence
from typing import Any

from runtimes.engine.engine_client import Container


class FakeLogs:
    """Tells, each time it is asked, the next of several logs, and then that its container has ended."""

    def __init__(self, *logs: Sequence[bytes]) -> None:
        self._logs = list(logs)
        self.since: list[int | None] = []

    async def find(self) -> Container | None:
        """Return the container; OSError when all logs have been read."""
        if not self._logs:
            raise OSError("the engine is gone")
        return Container(id="1", name="c", labels={}, sources=frozenset(), is_running=True)

    async def ask(self, method: str, container: str, **named: Any) -> "_Stream":
        assert (method, container) == ("logs", "1")
        self.since.append(named["since"])
        return _Stream(self._logs.pop(0))


class _Stream:
    """What the SDK gives for a log that is followed."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self._response = self

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        pass
