"""Marks a cluster that is made from the data of another, until it has become one of its own.

A run that is killed meanwhile leaves a cluster that is empty, or that says of itself what is true of its
source: it must not be started. The callers hold the cluster's lock.
"""

from kwokctl.errors import ConflictError
from kwokctl.host.files import private_folder
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ClusterName


def begin_copy(paths: ClusterPaths) -> None:
    """Mark a new cluster, before anything is made of it."""
    private_folder(paths.root)
    paths.half_copy.touch(mode=0o600)


def complete_copy(paths: ClusterPaths) -> None:
    """Note that the cluster works, with data that are its own."""
    paths.half_copy.unlink(missing_ok=True)


def demand_whole(paths: ClusterPaths, name: ClusterName) -> None:
    """Raise ConflictError for a cluster that a killed run has left half made."""
    if paths.half_copy.exists():
        raise ConflictError(
            f"the cluster '{name}' is half made: 'create cluster --from' was killed",
            hint=f"remove it with 'kwokctl --name {name} delete cluster', and create it again",
        )
