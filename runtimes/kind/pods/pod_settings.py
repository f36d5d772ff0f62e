"""Describes what the pods of a cluster get, run by kubeadm or kwokctl: settings, volumes, addresses and paths. Pure.

The node sees the files of the host first; a pod uses the network and the files of the node.
"""

from pathlib import Path

import msgspec

from kwokctl.json_value import Json
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    Component,
    ComponentName,
    Limits,
    NodeAddress,
)
from kwokctl.runtime import HOST
from runtimes.engine.site import GATEWAY, LOOPBACK, ON_HOST, EngineSite

_ELSEWHERE = Path("/mnt/host")
_SCRATCH, _SCRATCH_VOLUME = "/tmp", "scratch"  # noqa: S108 - the container's own


class PodSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that hold for every pod of a cluster."""

    root: Path
    """The cluster's folder."""
    user: int
    """The owner of the files that the components read and write."""
    group: int
    grace: float
    """Seconds that a component has to end by itself."""
    revive: bool
    """Whether components are run again that die; kubeadm's always are."""

    @property
    def patience(self) -> int:
        """The grace as the kubelet takes it: whole seconds, for none means that it is killed."""
        return max(1, round(self.grace))


def resources(limits: Limits) -> dict[str, Json]:
    """Return the part of a container that bounds its memory and processors; empty without limits.

    Kubernetes takes a limit as the request, too, unless there is one.
    """
    said = {"memory": str(limits.memory), "cpu": str(limits.cpus)}
    bounds = {name: text for name, text in said.items() if float(text)}
    if not bounds:
        return {}
    return {"resources": {"limits": bounds, "requests": dict.fromkeys(bounds, "0")}}


def on_node(path: Path, root: Path) -> str:
    """Return where the node sees a file of the host.

    What is in the cluster's folder lies where it lies on the host. Anything else must not cover what
    the node has there itself, such as its libraries.
    """
    return str(path if path.is_relative_to(root) else _ELSEWHERE / path.relative_to(path.anchor))


def sight(component: Component) -> dict[str, Json]:
    """Return the part of a container's description that says what it sees, and where it works.

    It works in an empty folder that only the node's root and its own pod reach, unless its user
    has given another, or an image that says which.
    """
    usual = "" if component.own and component.artifact.image else _SCRATCH
    folder = (component.own.folder if component.own else "") or usual
    return {
        **({"workingDir": folder} if folder else {}),
        "env": [{"name": k, "value": v} for k, v in component.env.items()],
        "volumeMounts": [
            *(
                {
                    "name": _name(number),
                    "mountPath": str(mount.mount_path),
                    "readOnly": mount.read_only,
                }
                for number, mount in enumerate(component.mounts)
            ),
            {"name": _SCRATCH_VOLUME, "mountPath": _SCRATCH},
        ],
    }


def volumes(component: Component, root: Path) -> list[dict[str, Json]]:
    """Return the pod's volumes that `sight` names."""
    return [
        *(
            {"name": _name(number), "hostPath": {"path": on_node(mount.host_path, root)}}
            for number, mount in enumerate(component.mounts)
        ),
        {"name": _SCRATCH_VOLUME, "emptyDir": {}},
    ]


def _name(number: int) -> str:
    return f"kwok-{number}"


_OWN_LOOPBACK = "localhost"

PORTS = {ETCD: 2379, KUBE_APISERVER: 6443, KUBE_CONTROLLER_MANAGER: 10257, KUBE_SCHEDULER: 10259}
"""The ports on which kubeadm, and tools that know its clusters, expect the control plane
(https://kubernetes.io/docs/reference/networking/ports-and-protocols/)."""


class KindSite(EngineSite, frozen=True):
    """Files have the same names as on the host; ports are those of kubeadm."""

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """Return a loopback address: of the node for what runs there, else of this host.

        The node's own is given by name: the host's may be another address that the user chose.
        """
        if dialler is None or dialler in ON_HOST:
            return f"{LOOPBACK}:{port}"
        if component in ON_HOST:
            return f"{HOST}:{port}"
        return f"{_OWN_LOOPBACK}:{self.port(component, port)}"

    def port(self, component: ComponentName, host_port: int) -> int:
        """Return kubeadm's own port of a component that it makes."""
        return PORTS.get(component, host_port)

    @property
    def has_own_nodes(self) -> bool:
        """Return true: kind's node is a real one."""
        return True

    def node_address(self) -> NodeAddress:
        """Return the host as the node sees it; a name for it the node does not know."""
        return NodeAddress(name=GATEWAY, ip=GATEWAY)
