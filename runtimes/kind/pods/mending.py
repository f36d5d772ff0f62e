"""Restricts access to the etcd of nodes that an older kwokctl has made. Pure.

kubeadm makes the pod once, with the node, and its manifest stays as it is: with an abstract socket for
peers, and with every client certificate of the cluster accepted. Only that is changed, before the next
start; what the user has said to kubeadm stays.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kwokctl.json_value import Json
from kwokctl.model import Component
from runtimes.kind.pods.pod_settings import sight, volumes

_PEERS = "--listen-peer-urls="
_OPEN = f"{_PEERS}unix:///"
_CLIENTS = "--client-cert-allowed-hostname="


def mended(pod: Mapping[str, Json], etcd: Component, root: Path) -> Mapping[str, Json]:
    """Return etcd's pod with both closed; one that was made without them is returned as it is."""
    container, *others = pod["spec"]["containers"]
    if not any(word.startswith(_OPEN) for word in container["command"]):
        return pod
    seen = sight(etcd)
    mounts, parts = seen["volumeMounts"], volumes(etcd, root)
    closed = {
        **container,
        "command": [
            *(word for word in container["command"] if not word.startswith((_PEERS, _CLIENTS))),
            *(word for word in etcd.args if word.startswith((_PEERS, _CLIENTS))),
        ],
        "workingDir": seen["workingDir"],
        "volumeMounts": _with_new(container["volumeMounts"], mounts, by="mountPath"),
    }
    spec = {
        **pod["spec"],
        "containers": [closed, *others],
        "volumes": _with_new(pod["spec"]["volumes"], parts, by="name"),
    }
    return {**pod, "spec": spec}


def _with_new(
    there: Sequence[Mapping[str, Json]], wanted: Sequence[Mapping[str, Json]], *, by: str
) -> list[Mapping[str, Json]]:
    known = {each[by] for each in there}
    return [*there, *(each for each in wanted if each[by] not in known)]
