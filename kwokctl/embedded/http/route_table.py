"""The paths that a server answers, and their handlers."""

from collections.abc import Iterable, Mapping

import msgspec

from kwokctl.embedded.http.messages import Handler, UpgradeHandler


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """A path, and what answers there; a subject hands over all of its own.

    Exactly one of `answer` and `take_over` is given.
    """

    path: str
    """Without a slash at its end: `/containerLogs`."""
    is_tree: bool = False
    """Whether the paths below it are meant, and not itself."""
    methods: frozenset[str] = frozenset({"GET"})
    """HEAD is answered wherever GET is."""
    answer: Handler | None = None
    take_over: UpgradeHandler | None = None
    is_open: bool = False
    """Whether every client may ask, without a credential."""
    is_debugging: bool = False
    """Whether it is off, and answers 405, where debugging handlers are."""


class RouteTable:
    """Finds the route of a path: the one that names most of it."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """Answer by these routes; of two for the same path the later one counts."""
        self._exact: Mapping[str, Route] = {r.path: r for r in routes if not r.is_tree}
        self._trees: Mapping[str, Route] = {r.path: r for r in routes if r.is_tree}

    def find(self, path: str) -> Route | None:
        """Return the route of a path without its query."""
        above = path.rstrip("/")
        if found := self._exact.get(above):
            return found
        while above:
            above = above.rpartition("/")[0]
            if found := self._trees.get(above):
                return found
        return None
