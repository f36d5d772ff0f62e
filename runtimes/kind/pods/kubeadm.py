"""Configures components that kubeadm runs: their arguments, patches of their pods, and what these need of the host."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from kwokctl.artifacts.versions import minor
from kwokctl.errors import UsageError
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    Component,
    ComponentName,
    Plan,
)
from kwokctl.runtime import HOST
from runtimes.engine.engine_client import Engine
from runtimes.engine.privileges import own_address
from runtimes.engine.site import host_address
from runtimes.kind.kubelet_certificates import CONFIGURED
from runtimes.kind.pods.pod_settings import PodSettings, resources, sight, volumes

MAKES = frozenset({ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER})
"""The components that kubeadm makes static pods of."""

_UNSAID: Mapping[ComponentName, Mapping[str, str]] = {
    ETCD: {
        "cert-file": "",
        "client-cert-auth": "false",
        "key-file": "",
        "peer-cert-file": "",
        "peer-client-cert-auth": "false",
        "peer-key-file": "",
        "peer-trusted-ca-file": "",
        "trusted-ca-file": "",
    },
    KUBE_APISERVER: {"etcd-cafile": "", "etcd-certfile": "", "etcd-keyfile": ""},
    # It would hand pods' networks to fake nodes, too, run out of them, and refuse to start where a
    # fake node has one from elsewhere, as those of the built-in template have.
    KUBE_CONTROLLER_MANAGER: {"allocate-node-cidrs": "false"},
}
"""Arguments of kubeadm that are removed unless a component sets them, too."""

_SECTIONS = {
    KUBE_APISERVER: "apiServer",
    KUBE_CONTROLLER_MANAGER: "controllerManager",
    KUBE_SCHEDULER: "scheduler",
}
_ADDED = ["preflight", "addon/kube-proxy", "addon/coredns"]
"""The phase that kind leaves out by itself, for a list given here replaces its own, and the addons."""
_TIMEOUTS = dict.fromkeys(
    ("controlPlaneComponentHealthCheck", "kubeletHealthCheck", "kubernetesAPICall"), "15m0s"
)
"""kubeadm's own are four minutes and one, too short for a machine that is busy or slow."""
_CGROUP_SWITCH = 31
"""The minor release from which a kubelet refuses cgroup v1 unless configured otherwise."""
_LISTS = 36
"""The minor release from which kind speaks v1beta4, with arguments as lists, and timeouts."""


def configurations(
    plan: Plan, *, patches: PurePath, has_cgroup_v1: bool, is_bare: bool = False
) -> tuple[dict[str, Json], ...]:
    """Return what to change of each of kubeadm's documents; `patches` is a folder of the node."""
    kube = plan.components[KUBE_APISERVER].artifact.version
    cluster: dict[str, Json] = {"kind": "ClusterConfiguration"}
    for name in sorted(MAKES & plan.components.keys()):
        arguments = _arguments(plan.components[name], as_list=minor(kube) >= _LISTS)
        if name == ETCD:
            cluster["etcd"] = {"local": arguments}
        else:
            cluster[_SECTIONS[name]] = arguments
    # This list replaces kind's, which has the first two.
    if names := plan.components[KUBE_APISERVER].certified_names:
        published = plan.components[KUBE_APISERVER].ports[0].host_address
        cluster["apiServer"]["certSANs"] = ["localhost", published, *names]
    init: dict[str, Json] = {"kind": "InitConfiguration", "patches": {"directory": str(patches)}}
    if minor(kube) >= _LISTS:
        init["timeouts"] = _TIMEOUTS
    if is_bare:
        init["skipPhases"] = _ADDED
    kubelet: dict[str, Json] = {"kind": "KubeletConfiguration", **CONFIGURED}
    if has_cgroup_v1 and minor(kube) >= _CGROUP_SWITCH:
        kubelet["failCgroupV1"] = False
    return tuple({**one, "metadata": {"name": "config"}} for one in (cluster, init, kubelet))


def pod_patch(component: Component, *, settings: PodSettings) -> dict[str, Json]:
    """Return the strategic merge patch of a component's pod: what it sees of the node's files,
    and its limits.

    etcd is run as the user, whose files its data are; the others read what kubeadm lets root alone
    read.
    """
    specification: dict[str, Json] = {
        "containers": [{"name": component.name, **sight(component), **resources(component.limits)}],
        "volumes": volumes(component, settings.root),
        "terminationGracePeriodSeconds": settings.patience,
    }
    if component.name == ETCD:
        specification["securityContext"] = {
            "runAsUser": settings.user,
            "runAsGroup": settings.group,
        }
    return {"spec": specification}


def _arguments(component: Component, *, as_list: bool) -> dict[str, object]:
    given = dict(_argument(word) for word in component.args)
    values = {**_UNSAID.get(component.name, {}), **given}
    if as_list:
        return {"extraArgs": [{"name": k, "value": v} for k, v in values.items()]}
    return {"extraArgs": values}


def _argument(word: str) -> tuple[str, str]:
    """Split `--key=value`; a bare key is a switch."""
    key, sign, value = word.removeprefix("--").partition("=")
    return key, value if sign else "true"


_NETWORK = "kind"
"""The network of all nodes, which kind makes with the first one
(https://kind.sigs.k8s.io/docs/user/known-issues/)."""


def make_files(component: Component, paths: ClusterPaths) -> None:
    """Make what a component writes to, so that it is this user's and not root's."""
    for mount in component.mounts:
        if not (mount.read_only or mount.host_path.exists()):
            mount.host_path.mkdir(parents=True, exist_ok=True)
    for word in component.args:
        key, _, value = word.partition("=")
        if key == "--audit-log-path" and Path(value).is_relative_to(paths.logs):
            Path(value).touch(mode=0o600)


async def known_host(engine: Engine, plan: Plan, own: Callable[[], str] = own_address) -> str:
    """Return the address at which kubeadm's pods find the host; empty if none of them dials it.

    They are made together with the node, so it must be known before; the network may not be there
    yet, but this machine's own address is reached from any. UsageError if there is none.
    """
    if not any(_dials(each) for name, each in plan.components.items() if name in MAKES):
        return ""
    found = await engine.found_network(_NETWORK, {})
    gateway = await host_address(engine, found[1]) if found else ""
    if address := gateway or own():
        return address
    raise UsageError(
        "kind's node reaches this machine only at an address that is not loopback, and it has none",
        hint="connect it to a network, or name a collector on another machine",
    )


def _dials(component: Component) -> bool:
    return any(HOST in text for text in (*component.args, *component.files.values()))
