"""Clusters that modules of one run share: each module finds its own as they were made.

A start of a cluster takes 3 s of processor time, going back to a mark 0.3 s, and a cluster that waits for the next module 0.05 s
each second. So the tests of modules that share one run one after the other (`in_turn`), and the next module's clusters replace it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from tests.support import audit_policy, fault_surfaces, kubelet_documents, schedulers
from tests.support.direct import ONLY_STORAGE
from tests.support.installed import Installed

Options = Mapping[str, Sequence[str]]
"""How clusters are created, by their names."""


def _one(*words: str) -> Options:
    return {"kwok": words}


_API, _ETCD = ("--data-path", "api"), ("--data-path", "etcd")
_SHOWING_ALL = ("--node-heartbeat", "real", "--managed-fields", "on")

SHARED: Mapping[str, Callable[[Installed], Options]] = {
    "usual": lambda _: _one(),
    "by_path": lambda _: {
        "by-api": (*_API, *_SHOWING_ALL),
        "by-etcd": ("--data-path", "auto", *_SHOWING_ALL),
    },
    "storage": lambda _: _one(*ONLY_STORAGE),
    "small_storage": lambda _: _one(
        *ONLY_STORAGE,
        *("--etcd-quota-backend-size", "48Mi", "--extra-args", "kube-apiserver=event-ttl=20m"),
    ),
    "with_faults": lambda _: _one("--enable-crds", "Fault"),
    "as_on_kubelets": lambda _: _one("--stage", "pod-kubelet", "--enable-crds", "Fault"),
    "with_own_faults": lambda cluster: _one(*fault_surfaces.options(cluster)),
    "with_repairs": lambda _: _one("--enable-crds", "Repair", "--disable", "kube-scheduler"),
    "with_stages": lambda _: _one("--enable-crds", "Stage", "--disable", "kube-scheduler"),
    "with_schedulers": lambda cluster: _one(*schedulers.options(cluster)),
    "with_documents": lambda cluster: _one(*kubelet_documents.options(cluster)),
    "audited_by_etcd": lambda cluster: _one(*audit_policy.options(cluster), *_ETCD),
    # The time of each fsync is measured there.
    "audited_by_api": lambda cluster: _one(
        *audit_policy.options(cluster), *_API, "--etcd-fsync", "on"
    ),
}
"""What returns the options of clusters, by the name of the fixture that gives them to a module."""

_MARK = "as-it-was-made"


class SharedClusters:
    """Makes the clusters that a module needs, unless they are there already.

    `made` enters the folder in which clusters are, and in the end removes whatever is there.
    """

    def __init__(self, made: Callable[[], AbstractContextManager[Installed]]) -> None:
        self._made = made
        self._name = ""
        self._clusters: Sequence[Installed] = ()
        self._until_replaced = ExitStack()

    @contextmanager
    def used(self, name: str, *, rewound: bool = True) -> Iterator[Sequence[Installed]]:
        """Yield clusters as they were made; those of another module are taken back to that, unless it has tidied up by itself."""
        if self._name == name and rewound:
            self._rewind()
        if self._name != name:
            self.close()
            folder = self._until_replaced.enter_context(self._made())
            self._clusters = [
                _created(folder.called(cluster), words, is_marked=rewound)
                for cluster, words in SHARED[name](folder).items()
            ]
            self._name = name
        yield self._clusters

    def close(self) -> None:
        """Delete the clusters."""
        self._name = ""
        self._until_replaced.close()

    def _rewind(self) -> None:
        """Go back to the marks; clusters of which a module has left one broken are not used again."""
        for cluster in self._clusters:
            is_whole = cluster.exists() and cluster.statuses() == {"Ready"}
            if not is_whole or cluster.run("snapshot", "rewind", _MARK).code != 0:
                self.close()
                return


def _created(cluster: Installed, words: Sequence[str], *, is_marked: bool) -> Installed:
    cluster.ok("create", "cluster", "--wait", "180s", "--etcd-fsync", "off", *words)
    if is_marked:
        cluster.ok("snapshot", "mark", _MARK)
    return cluster


class _Placed(Protocol):
    """A test, as far as it decides about its turn."""

    @property
    def path(self) -> Path: ...


_Test = TypeVar("_Test", bound=_Placed)


def in_turn(items: Sequence[_Test]) -> list[_Test]:
    """Return tests in an order in which those that share a cluster follow each other.

    What uses none goes with its module.
    """
    names = list(SHARED)
    places: dict[object, int] = {}
    for item in items:
        places[item.path] = max(places.get(item.path, -1), _place(item, names))

    def place(item: _Test) -> int:
        own = _place(item, names)
        return own if own >= 0 else places[item.path]

    return sorted(items, key=place)


def _place(item: _Placed, names: Sequence[str]) -> int:
    """Return the number of the shared cluster that a test uses; -1 if it uses none."""
    used = [names.index(name) for name in getattr(item, "fixturenames", ()) if name in names]
    return max(used, default=-1)
