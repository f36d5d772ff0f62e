"""Copies the manifests of add-ons that a cluster keeps, since the store may lose them."""

import shutil

from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import ClusterPaths


def copy_manifests(source: ClusterPaths, paths: ClusterPaths, options: ClusterOptions) -> None:
    """Copy the manifests that another cluster keeps."""
    for extra in options.extras:
        file = source.add_on_manifests(extra.name)
        if extra.add_on and file.is_file():
            paths.add_on_manifests(extra.name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, paths.add_on_manifests(extra.name))
