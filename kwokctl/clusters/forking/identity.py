"""Gives a cluster the authorities of another, so that what was signed by them stays valid."""

import shutil
from pathlib import Path

from kwokctl.components import identities
from kwokctl.host.files import private_folder
from kwokctl.model import AUTHORITY

_COPIED = (AUTHORITY, identities.FRONT_PROXY_CA, "sa")
"""Those of certificates, and the key of tokens, which are stored as Secrets."""


def copy_authorities(source: Path, target: Path) -> None:
    """Copy keys and certificates before others are made with them; their modes stay."""
    private_folder(target)
    for name in _COPIED:
        for file in source.glob(f"{name}.*"):
            shutil.copy2(file, target / file.name)
