"""Gives each test the state that it needs: prepared once, marked, and rewound to from then on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from kwokctl.json_value import Json
from kwokctl.pytest_plugin.needs import Needs

BASE = "pytest"
"""The mark of what every test finds."""
BEFORE = "before-pytest"
"""The mark of a cluster that is not the run's own."""
Paused = Callable[[], AbstractContextManager[object]]
Prepared = Sequence[Path | dict[str, Json]]


class StateHolder(Protocol):
    """The methods of a cluster that the plugin uses."""

    def apply(self, manifests: Prepared, /) -> object:
        """Apply objects."""
        ...

    def scale(self, kind: str, replicas: int, /) -> object:
        """Give a set of objects its size."""
        ...

    def mark(self, name: str, /, *, rest: float) -> object:
        """Mark the present state, once the cluster is idle."""
        ...

    def rewind(self, name: str, /, *, paused: Paused) -> object:
        """Put everything back."""
        ...

    def drop(self, name: str, /) -> object:
        """Remove a mark."""
        ...


class ClusterStates:
    """The states of one cluster."""

    def __init__(
        self,
        cluster: StateHolder,
        *,
        paused: Paused,
        rest: float,
        common: Needs,
        localized: Callable[[Sequence[Path]], Prepared],
    ) -> None:
        """Every test has `common` needs; `localized` makes webhooks lead to the server under test."""
        self._cluster = cluster
        self._paused = paused
        self._rest = rest
        self._common = common
        self._localized = localized
        self._marks: dict[Needs, str] = {}
        self._now: Needs | None = None
        """The content of the cluster, if no test has changed it since."""
        self.mark = BASE
        self.began = datetime.now(UTC)

    def begin(self, needs: Needs) -> None:
        """Let the cluster hold what a test needs, and nothing of the tests before."""
        for each in (self._common, needs):
            if each not in self._marks:
                self._prepare(each)
        self._go_to(needs)
        self.mark = self._marks[needs]
        self._now = None
        self.began = datetime.now(UTC)

    def end(self) -> None:
        """Forget the marks."""
        for name in self._marks.values():
            self._cluster.drop(name)
        self._marks.clear()

    def _go_to(self, needs: Needs) -> None:
        if self._now != needs:
            self._now = None
            self._cluster.rewind(self._marks[needs], paused=self._paused)
            self._now = needs

    def _prepare(self, needs: Needs) -> None:
        if self._marks:
            self._go_to(self._common)
        self._now = None
        self._cluster.apply([*self._localized(needs.crds), *needs.stages])
        for kind, number in (("node", needs.nodes), ("pod", needs.pods)):
            if number is not None:
                self._cluster.scale(kind, number)
        self._cluster.apply([*needs.objects])
        self._cluster.apply(self._localized(needs.webhooks))
        name = f"{BASE}-{needs.key}" if self._marks else BASE
        self._cluster.mark(name, rest=self._rest)
        self._marks[needs] = name
        self._now = needs


@contextmanager
def borrowed(cluster: StateHolder) -> Iterator[None]:
    """Take a cluster back, in the end, to what it is now: the programs under test have ended then."""
    cluster.mark(BEFORE, rest=0)
    try:
        yield
    finally:
        cluster.rewind(BEFORE, paused=nullcontext)
        cluster.drop(BEFORE)
