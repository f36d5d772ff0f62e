"""Holds what every verb is given: the work folder, the cache, and the listener for progress."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from kwokctl import registry
from kwokctl.errors import UsageError
from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.host.platforms import check_platform
from kwokctl.model import ClusterName
from kwokctl.progress import Progress, Silent
from kwokctl.runtime import Runtime

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")

_FOREIGN = re.compile(r"[^-a-z0-9.]+")
_LONGEST = 63


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """The folders, the clusters and the progress that every verb works with."""

    workdir: WorkDir
    cache: Path
    progress: Progress = msgspec.field(default_factory=Silent)
    load_runtime: Callable[[str, Host], Runtime] = registry.load

    def paths(self, name: ClusterName) -> ClusterPaths:
        """Return the files of a cluster."""
        return self.workdir.cluster(name)

    def runtime(self, kind: str) -> Runtime:
        """Load a runtime by name; UnavailableError where no cluster can be, whatever the folder holds."""
        check_platform()
        return self.load_runtime(kind, Host(self.workdir))


def cluster_name(text: str) -> ClusterName:
    """Check the name of a cluster: it becomes a folder, a context and part of file names."""
    if not _NAME.fullmatch(text):
        raise UsageError(
            f"'{text}' cannot be the name of a cluster",
            hint=f"{_proposal(text)}a name becomes part of the names of hosts, so it has at most 63 "
            "lower-case letters, digits, '-' and '.', and begins and ends with a letter or digit",
        )
    return ClusterName(text)


def _proposal(text: str) -> str:
    """Propose the name that is most like one that cannot be; empty where nothing of that is left."""
    name = _FOREIGN.sub("-", text.lower()).strip("-.")[:_LONGEST].rstrip("-.")
    return f"use '{name}', for example: " if name else ""


def context_name(name: ClusterName) -> str:
    """Return the kubeconfig context of a cluster."""
    return f"kwok-{name}"
