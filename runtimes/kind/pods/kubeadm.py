"""Configures components that kubeadm runs: their arguments, and patches of their pods.

That is done by patches of kind's own kubeadm configuration
(https://kind.sigs.k8s.io/docs/user/configuration/#kubeadm-config-patches), whose form is that of
https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/. Pure.
"""

from collections.abc import Mapping
from pathlib import PurePath

from kwokctl.artifacts.versions import minor
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
from runtimes.kind.kubelets import CONFIGURED
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
