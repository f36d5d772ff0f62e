"""How the pods of a cluster are run, whoever makes them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kwokctl.model import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What holds for every pod of a cluster."""

    root: Path
    """The cluster's folder."""
    user: int
    """Whose files the components read and write."""
    group: int
    grace: float
    """Seconds that a component has to end by itself."""
    revive: bool
    """Whether components are run again that die; kubeadm's always are."""

    @property
    def patience(self) -> int:
        """The grace as the kubelet takes it: whole seconds, for none means that it is killed."""
        return max(1, round(self.grace))


def resources(limits: Limits) -> dict[str, Any]:
    """Return the part of a container that bounds its memory and processors; empty without limits.

    Kubernetes takes a limit as the request, too, unless there is one.
    """
    said = {"memory": str(limits.memory), "cpu": str(limits.cpus)}
    bounds = {name: text for name, text in said.items() if float(text)}
    if not bounds:
        return {}
    return {"resources": {"limits": bounds, "requests": dict.fromkeys(bounds, "0")}}
