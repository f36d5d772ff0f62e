"""Exchanges a cluster's data for restored ones, so that a run killed at any moment loses nothing.

`etcd` holds the data; `etcd-before-restore` the old data, whole, until the data that replaced them
are known to work; `etcd-restored` what may be removed at any time: data that are being made, or
are about to be deleted. The callers hold the cluster's lock.
"""

from kwokctl.host.files import remove_tree
from kwokctl.host.paths import ClusterPaths


def settle(paths: ClusterPaths) -> None:
    """Tidy up after a restore that was killed: have data in their place, and no half-made ones."""
    if not paths.etcd_data.exists() and paths.etcd_before_restore.exists():
        paths.etcd_before_restore.rename(paths.etcd_data)
    remove_tree(paths.etcd_restored)


def exchange(paths: ClusterPaths) -> None:
    """Put the restored data in place, and keep the old data."""
    remove_tree(paths.etcd_before_restore)
    paths.etcd_data.rename(paths.etcd_before_restore)
    paths.etcd_restored.rename(paths.etcd_data)


def put_back(paths: ClusterPaths) -> None:
    """Put the old data back in place, if they were exchanged, and remove the restored data."""
    if paths.etcd_before_restore.exists() and paths.etcd_data.exists():
        remove_tree(paths.etcd_restored)
        # Not removed where it is: an etcd that finds half of its data may begin without any.
        paths.etcd_data.rename(paths.etcd_restored)
    settle(paths)


def forget_former(paths: ClusterPaths) -> None:
    """Remove the old data, once those that replaced them work."""
    remove_tree(paths.etcd_restored)
    if paths.etcd_before_restore.exists():
        # Moved first: what keeps its name is whole.
        paths.etcd_before_restore.rename(paths.etcd_restored)
        remove_tree(paths.etcd_restored)
