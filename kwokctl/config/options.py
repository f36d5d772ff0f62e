"""Every option of a cluster, declared once: its flag, environment variable, configuration key and default.

Names and defaults are the original's, so that its scripts keep working; where a default differs on
purpose the help says so. The command line, the environment, configuration files and the saved
state of a cluster are all read through this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from kwokctl.artifacts.node_images import PREFIX as NODE_IMAGE_PREFIX
from kwokctl.artifacts.versions import DEFAULT_KIND_VERSION, DEFAULT_KUBE_VERSION
from kwokctl.config import checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How an option is written in the places where it can be given; empty where it cannot."""

    field: str
    flag: str
    env: str
    key: str
    help: str
    group: str
    metavar: str
    within: tuple[int, int]
    """The least and the largest number that it takes."""
    check: checks.Check
    """What is wrong with a text of it; an empty one means "not given"."""
    choices: tuple[str, ...] = ()
    """The only words that it takes; empty if it takes any."""


def _option(default: Any, help_text: str, *, group: str, metavar: str = "", **more: Any) -> Any:
    """Declare one option; `flag`, `env` and `key` are derived from its name unless given.

    What its values must look like follows from the `metavar` unless given.
    """
    metadata = {
        "help": help_text,
        "group": group,
        "metavar": metavar,
        "within": checks.PORTS if metavar == "PORT" else checks.INT32,
        "check": _CHECKS.get(metavar, checks.text),
        **more,
    }
    return field(default=default, metadata=metadata)


_CHECKS: Mapping[str, checks.Check] = {
    "FILE": checks.file,
    "IMAGE": checks.image,
    "IMAGE-OR-FILE": checks.image_or_file,
    "IP": checks.address,
    "PROGRAM": checks.program,
    "QUANTITY": checks.quantity,
    "URL": checks.mirror,
}
_GENERAL = "General"
_COMPONENTS = "Components"
_SERVER = "API server"
_PORTS = "Ports on this machine (0 picks a free one)"
_ETCD = "etcd"
_PROGRAMS = "Programs (a path, a URL, or URL#member)"
_IMAGES = "Components that are containers"
_NODES = "Fake nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What a cluster shall be. Empty strings mean "not given"; ports of 0 mean "pick one"."""

    runtime: str = _option(
        "",
        "Where components run: binary (processes), docker (containers), kind or kind-podman (in a node "
        "made by kind) [default: auto, the first of binary and docker that can run here]",
        group=_GENERAL,
        metavar="NAME",
    )
    kube_version: str = _option(
        DEFAULT_KUBE_VERSION,
        "Version of Kubernetes",
        group=_GENERAL,
        metavar="VERSION",
        check=checks.kubernetes,
    )
    artifact_source: str = _option(
        "auto",
        "Where programs come from: auto (store, download, build), download, build or offline; for "
        "components that are containers: auto (pull, else as above), download (pull), build, offline",
        group=_PROGRAMS,
        metavar="SOURCE",
        choices=("auto", "download", "build", "offline"),
    )
    quiet_pull: bool = _option(False, "Show no progress of downloads and builds", group=_GENERAL)
    bind_address: str = _option(
        "127.0.0.1",
        "Address on which components listen; the original kwokctl listens on all",
        group=_GENERAL,
        metavar="IP",
    )
    restart: str = _option(
        "no",
        "Restart components that die: no or on-failure",
        group=_GENERAL,
        metavar="POLICY",
        choices=("no", "on-failure"),
    )
    data_path: str = _option(
        "auto",
        "How fake kubelets and 'scale' write: api (through the API server), etcd (past it, many "
        "times faster), or auto: etcd where no admission, policy, quota or audit would be skipped",
        group=_GENERAL,
        metavar="PATH",
        choices=("auto", "api", "etcd"),
    )
    managed_fields: str = _option(
        "auto",
        "Record in objects that are written past the API server which client owns which fields "
        "(metadata.managedFields): on, off, or auto: in all but the pods that 'scale' copies, "
        "which are made and deleted in two thirds of the time without",
        group=_GENERAL,
        metavar="WHICH",
        choices=("auto", "on", "off"),
    )

    components: tuple[str, ...] = _option(
        ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller"),
        "Components, in full",
        group=_COMPONENTS,
        metavar="NAME,…",
    )
    enable: tuple[str, ...] = _option((), "Components to add", group=_COMPONENTS, metavar="NAME,…")
    disable: tuple[str, ...] = _option(
        (), "Components to leave out", group=_COMPONENTS, metavar="NAME,…"
    )
    disable_kube_scheduler: bool = _option(
        False, "Same as --disable kube-scheduler (deprecated)", group=_COMPONENTS
    )
    disable_kube_controller_manager: bool = _option(
        False, "Same as --disable kube-controller-manager (deprecated)", group=_COMPONENTS
    )
    extra_args: tuple[str, ...] = _option(
        (),
        "Argument for a component, as COMPONENT=KEY=VALUE; may be repeated",
        group=_COMPONENTS,
        metavar="ARG",
        env="",
        key="",
    )
    enable_crds: tuple[str, ...] = _option(
        (),
        "Kinds of documents that a controller of your own (--kwok-controller-binary) reads from the "
        "API server, such as Stage",
        group=_COMPONENTS,
        metavar="KIND,…",
        key="enableCRDs",
        env="",
        check=checks.resource_kind,
    )
    disable_qps_limits: bool = _option(
        True,
        "Lift the rate limits of control plane clients; on by default, unlike the original",
        group=_COMPONENTS,
        key="disableQPSLimits",
        env="",
    )
    go_gc: int = _option(
        200,
        "By how many percent the heaps of components in Go grow until garbage is collected (GOGC): "
        "100 takes an eighth less memory, and up to a sixth more processor time",
        group=_COMPONENTS,
        metavar="PERCENT",
        key="goGC",
        within=(1, 100_000),
    )
    kube_feature_gates: str = _option(
        "",
        "Feature gates of API server, controller-manager and scheduler",
        group=_COMPONENTS,
        check=checks.feature_gates,
    )

    kube_authorization: bool = _option(True, "Authorise with RBAC and Node", group=_SERVER)
    kube_runtime_config: str = _option(
        "",
        "API groups to serve (--runtime-config)",
        group=_SERVER,
        check=checks.runtime_config,
    )
    kube_audit_policy: str = _option(
        "", "Audit policy file; turns the audit log on", group=_SERVER, metavar="FILE"
    )
    kube_apiserver_cert_sans: tuple[str, ...] = _option(
        (),
        "More names and addresses for the API server's certificate",
        group=_SERVER,
        metavar="NAME,…",
        flag="",
        env="",
        key="kubeApiserverCertSANs",
        check=checks.host_name,
    )

    kube_apiserver_port: int = _option(0, "API server", group=_PORTS, metavar="PORT")
    etcd_port: int = _option(0, "etcd", group=_PORTS, metavar="PORT")
    kube_controller_manager_port: int = _option(
        0, "Controller-manager", group=_PORTS, metavar="PORT"
    )
    kube_scheduler_port: int = _option(0, "Scheduler", group=_PORTS, metavar="PORT")
    controller_port: int = _option(
        0, "Fake-node controller", group=_PORTS, metavar="PORT", key="kwokControllerPort"
    )

    etcd_version: str = _option(
        "",
        "Version of etcd; by default the one for the Kubernetes version",
        group=_ETCD,
        flag="",
        check=checks.etcd,
    )
    etcd_prefix: str = _option(
        "/registry",
        "Prefix of all keys in etcd",
        group=_ETCD,
        env="",
        metavar="PREFIX",
        check=checks.key_prefix,
    )
    etcd_quota_backend_size: str = _option(
        "8Gi", "Size at which etcd refuses writes", group=_ETCD, env="", metavar="QUANTITY"
    )
    etcd_tls: bool = _option(
        True,
        "Require a client certificate on etcd's port; off for tools that expect a plain one",
        group=_ETCD,
        key="etcdTLS",
    )
    etcd_fsync: str = _option(
        "on",
        "Let etcd wait for the disk: on, or off, which is faster on slow disks, but a power cut "
        "may cost the cluster",
        group=_ETCD,
        metavar="SWITCH",
        choices=("on", "off"),
    )

    etcd_binary: str = _option("", "etcd", group=_PROGRAMS, metavar="PROGRAM")
    etcdctl_binary: str = _option("", "etcdctl", group=_PROGRAMS, metavar="PROGRAM", flag="")
    etcdutl_binary: str = _option("", "etcdutl", group=_PROGRAMS, metavar="PROGRAM", flag="")
    kube_apiserver_binary: str = _option("", "kube-apiserver", group=_PROGRAMS, metavar="PROGRAM")
    kube_controller_manager_binary: str = _option(
        "", "kube-controller-manager", group=_PROGRAMS, metavar="PROGRAM"
    )
    kube_scheduler_binary: str = _option("", "kube-scheduler", group=_PROGRAMS, metavar="PROGRAM")
    kubectl_binary: str = _option("", "kubectl", group=_PROGRAMS, metavar="PROGRAM", flag="")
    kwok_controller_binary: str = _option(
        "",
        "A controller to run instead of the embedded one",
        group=_PROGRAMS,
        metavar="PROGRAM",
        env="CONTROLLER_BINARY",
    )
    kind_binary: str = _option("", "kind", group=_PROGRAMS, metavar="PROGRAM")
    kind_version: str = _option(
        DEFAULT_KIND_VERSION,
        "Version of kind",
        group=_PROGRAMS,
        metavar="VERSION",
        flag="",
        check=checks.kind,
    )
    kind_binary_prefix: str = _option(
        "", "Mirror of the downloads of kind", group=_PROGRAMS, metavar="URL", flag=""
    )
    kind_node_image: str = _option(
        "",
        "Image of the node that kind makes, or a file that holds it [default: the one of kind's "
        "project for the Kubernetes version]",
        group=_PROGRAMS,
        metavar="IMAGE-OR-FILE",
    )
    kind_node_image_prefix: str = _option(
        NODE_IMAGE_PREFIX,
        "Registry and folder of the node image",
        group=_PROGRAMS,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )
    kube_binary_prefix: str = _option(
        "", "Mirror of the Kubernetes downloads", group=_PROGRAMS, metavar="URL", flag=""
    )
    etcd_binary_prefix: str = _option(
        "", "Mirror of the etcd downloads", group=_PROGRAMS, metavar="URL", flag=""
    )

    etcd_image: str = _option("", "etcd", group=_IMAGES, metavar="IMAGE")
    kube_apiserver_image: str = _option("", "kube-apiserver", group=_IMAGES, metavar="IMAGE")
    kube_controller_manager_image: str = _option(
        "", "kube-controller-manager", group=_IMAGES, metavar="IMAGE"
    )
    kube_scheduler_image: str = _option("", "kube-scheduler", group=_IMAGES, metavar="IMAGE")
    kube_image_prefix: str = _option(
        "",
        "Mirror of the Kubernetes images",
        group=_IMAGES,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )
    etcd_image_prefix: str = _option(
        "",
        "Mirror of the etcd image",
        group=_IMAGES,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )
    memory_limit: tuple[str, ...] = _option(
        (),
        "Memory that a container may take, such as 4Gi for each, or etcd=1Gi for one",
        group=_IMAGES,
        metavar="LIMIT,…",
    )
    cpu_limit: tuple[str, ...] = _option(
        (),
        "Processors that a container may use, such as 2 for each, or kube-scheduler=0.5 for one",
        group=_IMAGES,
        metavar="LIMIT,…",
    )

    nodes: int = _option(
        0,
        "Nodes to create with the cluster, as 'scale node' does; none is deleted from a cluster "
        "that exists",
        group=_NODES,
        metavar="N",
    )
    pods: int = _option(
        0, "Pods to create after the nodes, as 'scale pod' does", group=_NODES, metavar="N"
    )
    node_heartbeat: str = _option(
        "",
        "How often fake nodes show that they live: real (as kubelets do), stretched (by the "
        "factor) or off (never, and none is lost) [default: real with the data path etcd if no "
        "time is given, else stretched]",
        group=_NODES,
        metavar="KIND",
        choices=("real", "stretched", "off"),
    )
    node_lease_duration_seconds: int = _option(
        40,
        "How long a node's lease lasts, before the factor",
        group=_NODES,
        env="",
        metavar="SECONDS",
        within=(0, 1_000_000),
    )
    node_status_update_frequency_milliseconds: int = _option(
        10_000,
        "How often a node's status is refreshed, before the factor",
        group=_NODES,
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    kube_controller_manager_node_monitor_period_milliseconds: int = _option(
        5_000,
        "How often nodes are checked, before the factor",
        group=_NODES,
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    kube_controller_manager_node_monitor_grace_period_milliseconds: int = _option(
        40_000,
        "When a silent node is lost, before the factor",
        group=_NODES,
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    heartbeat_factor: int = _option(
        5,
        "Factor by which every heartbeat time is multiplied; 0 or 1 turns that off",
        group=_NODES,
        env="",
        metavar="N",
        within=(0, 1000),
    )


@cache
def spellings() -> tuple[Spelling, ...]:
    """Return how each option is written, in the order of declaration."""
    return tuple(_spelling(f.name, dict(f.metadata)) for f in fields(ClusterOptions))


@cache
def types() -> Mapping[str, Any]:
    """Return the type of each option, by field."""
    return {f.name: f.type for f in fields(ClusterOptions)}


def _spelling(name: str, metadata: dict[str, Any]) -> Spelling:
    first, *rest = name.split("_")
    derived = {
        "flag": "--" + name.replace("_", "-"),
        "env": "KWOK_" + name.upper(),
        "key": first + "".join(word.title() for word in rest),
    }
    if metadata.get("env"):
        metadata["env"] = "KWOK_" + metadata["env"]
    return Spelling(field=name, **(derived | metadata))
