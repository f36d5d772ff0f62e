"""Clusters that modules of one run share, one at a time: each module finds the cluster as it was made.

A start of a cluster takes 3 s of processor time, going back to a mark 0.3 s, and a cluster that waits for the next module 0.05 s
each second. So the tests of modules that share one run one after the other (`in_turn`), and the next cluster replaces it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest

from tests.support import fault_surfaces
from tests.support.direct import ONLY_STORAGE
from tests.support.installed import Installed

SHARED: Mapping[str, Callable[[Installed], Sequence[str]]] = {
    "storage": lambda _: ONLY_STORAGE,
    "with_faults": lambda _: ("--enable-crds", "Fault"),
    "as_on_kubelets": lambda _: ("--stage", "pod-kubelet", "--enable-crds", "Fault"),
    "with_own_faults": fault_surfaces.options,
    "with_stages": lambda _: ("--enable-crds", "Stage", "--disable", "kube-scheduler"),
}
"""What returns the options of a cluster, by the name of the fixture that gives a module one."""

_MARK = "as-it-was-made"


class SharedClusters:
    """Makes the cluster that a module needs, unless it is there already.

    `made` enters the folder in which a cluster is, and in the end removes whatever is there.
    """

    def __init__(self, made: Callable[[], AbstractContextManager[Installed]]) -> None:
        self._made = made
        self._name = ""
        self._until_replaced = ExitStack()

    @contextmanager
    def used(self, name: str, *, rewound: bool = True) -> Iterator[Installed]:
        """Yield a cluster as it was made; it is taken back to that afterwards, unless modules tidy up by themselves."""
        if self._name != name:
            self.close()
            self._cluster = self._until_replaced.enter_context(self._made())
            self._name = name
            options = SHARED[name](self._cluster)
            self._cluster.ok("create", "cluster", "--wait", "180s", "--etcd-fsync", "off", *options)
            if rewound:
                self._cluster.ok("snapshot", "mark", _MARK)
        yield self._cluster
        if rewound:
            self._rewind()

    def close(self) -> None:
        """Delete the cluster."""
        self._name = ""
        self._until_replaced.close()

    def _rewind(self) -> None:
        """Go back to the mark; a cluster that a module has left broken is not used again."""
        cluster = self._cluster
        is_whole = cluster.statuses() == {"Ready"}
        if not is_whole or cluster.run("snapshot", "rewind", _MARK).code != 0:
            self.close()


def in_turn(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return tests in an order in which modules that share a cluster follow each other."""
    names = list(SHARED)
    places: dict[object, int] = {}
    for item in items:
        used = [names.index(name) for name in getattr(item, "fixturenames", ()) if name in names]
        places[item.path] = max(places.get(item.path, -1), *used, -1)
    return sorted(items, key=lambda item: places[item.path])
