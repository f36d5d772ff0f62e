"""Copies the files that a fork takes over from its source: authorities, and manifests of add-ons."""

import shutil
from pathlib import Path

from kwokctl.components import cluster_identities
from kwokctl.config.options import ClusterOptions
from kwokctl.host.files import private_folder
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import AUTHORITY

_COPIED = (AUTHORITY, cluster_identities.FRONT_PROXY_CA, "sa")
"""Those of certificates, and the key of tokens, which are stored as Secrets."""


def copy_authorities(source: Path, target: Path) -> None:
    """Copy keys and certificates, so that what they have signed is valid in the fork; modes stay.

    To be called before other certificates are made with them.
    """
    private_folder(target)
    for name in _COPIED:
        for file in source.glob(f"{name}.*"):
            shutil.copy2(file, target / file.name)


def copy_manifests(source: ClusterPaths, paths: ClusterPaths, options: ClusterOptions) -> None:
    """Copy the manifests of add-ons that the source keeps: the store may have lost them."""
    for extra in options.extras:
        file = source.add_on_manifests(extra.name)
        if extra.add_on and file.is_file():
            paths.add_on_manifests(extra.name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, paths.add_on_manifests(extra.name))
