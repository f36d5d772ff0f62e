"""The settings of a cluster's pods, which kubeadm or kwokctl runs, and of their volumes. Pure.

The node sees the files of the host first.
"""

from pathlib import Path

import msgspec

from kwokctl.json_value import Json
from kwokctl.model import Component, Limits

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
