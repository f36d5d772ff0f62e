"""The certificate with which the kubelets of real nodes serve.

By itself a kubelet signs its own, which no client can verify. This one is signed by the authority of
the cluster, and is there before the kubelet starts. It has the names of the nodes: an engine may give a
node another address at each start.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.json_value import Json
from kwokctl.model import Identity

_NAME = "kind-kubelet"
_PLACE = "/etc/kubernetes/pki/kubelet-server"
_KINDS = ("crt", "key")

CONFIGURED: Mapping[str, Json] = {
    "tlsCertFile": f"{_PLACE}.crt",
    "tlsPrivateKeyFile": f"{_PLACE}.key",
}
"""The names in the configuration of kubelets: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/."""


def certify(pki: Path, nodes: Collection[str]) -> None:
    """Make the certificate of these nodes, unless it is there."""
    names = tuple(nodes)
    identity = Identity(
        name=_NAME, common_name=_NAME, server=True, client=False, server_names=names
    )
    ensure_pki(pki, [identity])


def mounts(pki: Path) -> Iterator[dict[str, Json]]:
    """Yield the files that every node sees."""
    for kind in _KINDS:
        yield {
            "hostPath": str(pki / f"{_NAME}.{kind}"),
            "containerPath": f"{_PLACE}.{kind}",
            "readOnly": True,
        }


def node_names(project: str, nodes: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return what kind calls the nodes of its configuration: by their roles, from the second on with a number.

    (kind, `pkg/cluster/internal/providers/common/namer.go`)
    """
    roles = [node["role"] for node in nodes]
    numbers = [roles[:place].count(role) + 1 for place, role in enumerate(roles)]
    return [
        f"{project}-{role}{number if number > 1 else ''}"
        for role, number in zip(roles, numbers, strict=True)
    ]
