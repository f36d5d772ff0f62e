"""Builds the configuration from which kind makes a cluster, with the user's own merged in. Pure.

Its form is that of https://kind.sigs.k8s.io/docs/user/configuration/.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.model import KUBE_APISERVER, Component, Plan
from runtimes.engine.site import placed
from runtimes.kind import kubelet_certificates
from runtimes.kind.pods.kubeadm import configurations
from runtimes.kind.pods.pod_settings import on_node

GROUP = "kind.x-k8s.io"
_API_VERSION = f"{GROUP}/v1alpha4"
_CONTROL_PLANE = "control-plane"
_KUBEADMS_PKI = "/etc/kubernetes/pki"
_PKI = {
    "ca.crt": ("ca.crt", "etcd/ca.crt"),
    "ca.key": ("ca.key", "etcd/ca.key"),
    "sa.pub": ("sa.pub",),
    "sa.key": ("sa.key",),
}
"""Files of the cluster's PKI that kubeadm must sign with, instead of creating its own."""
_POD_SUBNETS = {
    "ipv4": "10.244.0.0/16",
    "ipv6": "fd00:10:244::/56",
    "dual": "10.244.0.0/16,fd00:10:244::/56",
}
"""By IP family, as kind has them; given explicitly, for real nodes divide them."""
_BARE = {"disableDefaultCNI": True, "kubeProxyMode": "none"}
_OURS = {
    "name": "the name is that of the cluster: --name",
    "networking.apiServerAddress": "the address is an option of kwokctl: --bind-address",
    "networking.apiServerPort": "the port is an option of kwokctl: --kube-apiserver-port",
}
"""The fields that a user's document must not set, with the reasons."""
_BITS = {4: 24, 6: 64}
"""The length of the prefix of one node's network, by the version of IP."""


def configuration(
    plan: Plan, paths: ClusterPaths, *, has_cgroup_v1: bool, is_bare: bool = False
) -> dict[str, Json]:
    """Return kind's configuration for a plan; ConfigError for what the user's own may not say.

    An image that `is_bare` has nothing of what kind adds to a control plane: it is left out.
    """
    own = _own(plan.documents)
    _refuse_ours(own)
    control_plane, *workers = _nodes(own)
    networking = own.get("networking") or {}
    api = plan.components[KUBE_APISERVER]
    patches = configurations(
        plan, patches=patches_folder(paths), has_cgroup_v1=has_cgroup_v1, is_bare=is_bare
    )
    return {
        **own,
        "kind": "Cluster",
        "apiVersion": _API_VERSION,
        "networking": {
            **(_BARE if is_bare else {}),
            "podSubnet": _POD_SUBNETS.get(networking.get("ipFamily", "ipv4"), ""),
            **networking,
            "apiServerAddress": api.ports[0].host_address,
            "apiServerPort": api.ports[0].host_port,
        },
        "kubeadmConfigPatches": [
            *(yaml.dump_all([patch]) for patch in patches),
            *(own.get("kubeadmConfigPatches") or ()),
        ],
        "nodes": [
            {
                **control_plane,
                "role": _CONTROL_PLANE,
                "extraMounts": [
                    *_mounts(plan, paths),
                    *(control_plane.get("extraMounts") or ()),
                ],
                "extraPortMappings": [
                    *_ports(plan),
                    *(control_plane.get("extraPortMappings") or ()),
                ],
            },
            *(_worker(each, paths) for each in workers),
        ],
    }


def patches_folder(paths: ClusterPaths) -> Path:
    """Return the folder in which kubeadm finds patches of the pods that it makes."""
    return paths.root / "kind" / "patches"


def _own(documents: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
    if len(documents) > 1:
        raise ConfigError(
            f"there are {len(documents)} documents of '{GROUP}'", hint="write them as one"
        )
    return documents[0] if documents else {}


def _refuse_ours(own: Mapping[str, Json]) -> None:
    for place, why in _OURS.items():
        value: Json = own
        for key in place.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value:
            raise ConfigError(f"'{place}' of kind's configuration cannot be set", hint=why)


def _nodes(own: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the control plane's node, and then the others."""
    nodes = list(own.get("nodes") or [{"role": _CONTROL_PLANE}])
    first = [node for node in nodes if node.get("role", _CONTROL_PLANE) == _CONTROL_PLANE]
    if len(first) != 1:
        raise ConfigError(
            f"kind's configuration has {len(first)} nodes of the role '{_CONTROL_PLANE}'",
            hint="kwokctl supports one such node",
        )
    if first[0].get("image"):
        raise ConfigError(
            "'nodes[].image' of kind's configuration cannot be set",
            hint="the image of the node is an option of kwokctl: --kind-node-image",
        )
    return [first[0], *(node for node in nodes if node is not first[0])]


def _mounts(plan: Plan, paths: ClusterPaths) -> Iterator[dict[str, Json]]:
    """Yield what the node sees of the host: the cluster's folder, and what lies elsewhere."""
    inside = placed(plan, on_host=False).components.values()
    wanted = [paths.root, *(mount.host_path for c in inside for mount in c.mounts)]
    seen: list[Path] = []
    for path in wanted:
        if not any(path.is_relative_to(above) for above in seen):
            seen.append(path)
            yield {"hostPath": str(path), "containerPath": on_node(path, paths.root)}
    for file, places in _PKI.items():
        for place in places:
            yield {
                "hostPath": str(paths.pki / file),
                "containerPath": f"{_KUBEADMS_PKI}/{place}",
                "readOnly": True,
            }
    yield from kubelet_certificates.mounts(paths.pki)


def _worker(node: Mapping[str, Json], paths: ClusterPaths) -> dict[str, Json]:
    own = node.get("extraMounts") or ()
    return {**node, "extraMounts": [*kubelet_certificates.mounts(paths.pki), *own]}


def _ports(plan: Plan) -> Iterator[dict[str, Json]]:
    for component in placed(plan, on_host=False).components.values():
        if component.name != KUBE_APISERVER:
            yield from _published(component)


def _published(component: Component) -> Iterator[dict[str, Json]]:
    for port in component.ports:
        if port.host_port:
            yield {
                "containerPort": port.port,
                "hostPort": port.host_port,
                "listenAddress": port.host_address,
                "protocol": "TCP",
            }


def pod_networks(subnets: str, nodes: Iterable[str]) -> Mapping[str, list[str]]:
    """Return each node's networks, one of each of the comma-separated `subnets`."""
    wholes = [ip_network(subnet.strip()) for subnet in subnets.split(",")]
    parts = [
        whole.subnets(new_prefix=max(_BITS[whole.version], whole.prefixlen)) for whole in wholes
    ]
    return {
        name: [str(network) for network in networks]
        for name, *networks in zip(sorted(nodes), *parts, strict=False)
    }
