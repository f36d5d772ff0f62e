"""Whether an entry of a kubeconfig was made for a cluster of kwokctl."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_FILES = ("certificate-authority", "client-certificate", "client-key")


def is_of_cluster(entry: Mapping[str, Any], folder: Path, home: Path | None) -> bool:
    """Tell whether a cluster or user entry leads to this machine or into the folder `home`.

    `folder` is where the kubeconfig lies, for relative names. An empty entry is of no cluster,
    and may be replaced.
    """
    if home is not None and lies_in(entry, folder, home):
        return True
    if server := entry.get("server"):
        return _is_local(str(server))
    return not entry


def lies_in(entry: Mapping[str, Any], folder: Path, home: Path) -> bool:
    """Tell whether a file that an entry names lies in the folder `home`."""
    named = ((folder / str(entry[key])).resolve() for key in _FILES if key in entry)
    return any(path.is_relative_to(home.resolve()) for path in named)


def _is_local(server: str) -> bool:
    try:
        host = urlsplit(server).hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
