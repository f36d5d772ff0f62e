"""Locks a cluster, so that commands that exclude each other do not run at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager

from kwokctl.host.noted_locks import locked
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName


@contextmanager
def alone(workdir: WorkDir, name: ClusterName) -> Iterator[None]:
    """Exclude every other command: the cluster is made, stopped, restored or removed."""
    with locked(workdir.cluster_lock(name), what=_what(name)):
        yield


@contextmanager
def starting(workdir: WorkDir, name: ClusterName) -> Iterator[None]:
    """Start what does not run, beside commands that were using the cluster when it died.

    They wait for it; if they excluded this command, both would wait for each other.
    """
    with _shared(workdir, name), locked(workdir.start_lock(name), what=_what(name)):
        yield


@contextmanager
def using(workdir: WorkDir, name: ClusterName) -> Iterator[None]:
    """Use the cluster beside others that do; it must not be about to be started, but may be later."""
    with _shared(workdir, name):
        with locked(workdir.start_lock(name), what=_what(name), shared=True):
            pass
        yield


@contextmanager
def marking(workdir: WorkDir, name: ClusterName) -> Iterator[None]:
    """Exclude the other commands that make or remove marks, while the cluster is used."""
    with locked(workdir.marks_lock(name), what=f"the list of marks of '{name}'"):
        yield


@contextmanager
def _shared(workdir: WorkDir, name: ClusterName) -> Iterator[None]:
    with locked(workdir.cluster_lock(name), what=_what(name), shared=True):
        yield


def _what(name: ClusterName) -> str:
    return f"the cluster '{name}'"
