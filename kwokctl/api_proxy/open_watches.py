"""The watches that are open through the proxy now, which faults cut."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kwokctl.api_proxy.api_request import ApiRequest


class OpenWatches:
    """Keeps the open watches, and cuts those that are asked for."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[int, tuple[ApiRequest, Callable[[], None]]] = {}
        self._next = 0

    @contextmanager
    def opened(self, request: ApiRequest, cut: Callable[[], None]) -> Iterator[None]:
        """Keep a watch while inside; `cut` ends its connection at once. What is no watch is not kept."""
        if not request.is_watch:
            yield
            return
        number, self._next = self._next, self._next + 1
        self._open[number] = request, cut
        try:
            yield
        finally:
            del self._open[number]

    def cut(self, matches: Callable[[ApiRequest], bool]) -> int:
        """Cut the watches that match, and return how many they are."""
        found = [cut for request, cut in self._open.values() if matches(request)]
        for cut in found:
            cut()
        return len(found)
