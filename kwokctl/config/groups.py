"""The options of a cluster that belong together, each declared once; those of components are with them.

Names and defaults are the original's, so that its scripts keep working; where a default differs on
purpose the help says so.
"""

from dataclasses import dataclass

from kwokctl.artifacts.node_images import PREFIX as NODE_IMAGE_PREFIX
from kwokctl.artifacts.versions import DEFAULT_KIND_VERSION
from kwokctl.config import checks, version_checks
from kwokctl.config.declaring import (
    COMPONENTS,
    GENERAL,
    IMAGES,
    PROGRAMS,
    SERVER,
    binary_option,
    option,
    version_option,
)
from kwokctl.model import METRICS_SERVER


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions:
    """Options for the sources of programs."""

    source: str = option(
        "auto",
        "Where programs come from: auto (store, download, build), download, build or offline; for "
        "components that are containers: auto (pull, else as above), download (pull), build, offline",
        group=PROGRAMS,
        metavar="SOURCE",
        name="artifact_source",
        choices=("auto", "download", "build", "offline"),
    )
    quiet: bool = option(
        False, "Show no progress of downloads and builds", group=GENERAL, name="quiet_pull"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPathOptions:
    """Options for the writes of fake kubelets and `scale`."""

    path: str = option(
        "auto",
        "How fake kubelets and 'scale' write: api (through the API server), etcd (without it, many "
        "times faster), or auto: etcd where no admission, policy, quota or audit would be skipped",
        group=GENERAL,
        metavar="PATH",
        name="data_path",
        choices=("auto", "api", "etcd"),
        original="api",
    )
    managed_fields: str = option(
        "auto",
        "Whether objects that are written past the API server have metadata.managedFields: on, "
        "off, or auto (all but the pods that 'scale' copies, which take a third less time without)",
        group=GENERAL,
        metavar="WHICH",
        choices=("auto", "on", "off"),
        original="on",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """Options for the components of a cluster."""

    components: tuple[str, ...] = option(
        (
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kwok-controller",
            "kwok-kubelet",
        ),
        "Components, in full",
        group=COMPONENTS,
        metavar="NAME,…",
        original=(
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kwok-controller",
        ),
    )
    enable: tuple[str, ...] = option(
        (),
        "Components and add-ons to add; a folder such as ./mine is an add-on of your own",
        group=COMPONENTS,
        metavar="NAME,…",
    )
    disable: tuple[str, ...] = option(
        (), "Components to leave out", group=COMPONENTS, metavar="NAME,…"
    )
    enable_metrics_server: bool = option(
        False,
        "Same as --enable metrics-server (deprecated)",
        group=COMPONENTS,
        env="",
        deprecated="--enable metrics-server",
    )
    disable_kube_scheduler: bool = option(
        False,
        "Same as --disable kube-scheduler (deprecated)",
        group=COMPONENTS,
        deprecated="--disable kube-scheduler",
    )
    disable_kube_controller_manager: bool = option(
        False,
        "Same as --disable kube-controller-manager (deprecated)",
        group=COMPONENTS,
        deprecated="--disable kube-controller-manager",
    )

    @property
    def added(self) -> tuple[str, ...]:
        """The components to add, with those of deprecated options."""
        return (*self.enable, METRICS_SERVER) if self.enable_metrics_server else self.enable


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentOptions:
    """Arguments and variables of several components."""

    extra: tuple[str, ...] = option(
        (),
        "Argument for a component, as COMPONENT=KEY=VALUE; may be repeated",
        group=COMPONENTS,
        metavar="ARG",
        name="extra_args",
        env="",
        key="",
    )
    disable_qps_limits: bool = option(
        True,
        "Lift the rate limits of control plane clients; on by default, unlike the original",
        group=COMPONENTS,
        key="disableQPSLimits",
        env="",
        original=False,
    )
    go_gc: int = option(
        200,
        "GOGC of the components: by how many percent a heap grows before garbage is collected; 100 "
        "takes an eighth less memory, and up to a sixth more CPU time",
        group=COMPONENTS,
        metavar="PERCENT",
        key="goGC",
        within=(1, 100_000),
        original=100,
    )
    feature_gates: str = option(
        "",
        "Feature gates of API server, controller-manager and scheduler",
        group=COMPONENTS,
        name="kube_feature_gates",
        check=checks.feature_gates,
    )
    authorization: bool = option(
        True, "Authorise with RBAC and Node", group=SERVER, name="kube_authorization"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Programs that make a cluster or work on it and are no part of it, and the image of kind's nodes."""

    etcdctl: str = binary_option("etcdctl", name="etcdctl_binary", flag="")
    etcdutl: str = binary_option("etcdutl", name="etcdutl_binary", flag="")
    kubectl: str = binary_option("kubectl", name="kubectl_binary", flag="")
    etcd_archive: str = option(
        "",
        "Same as --etcd-binary ARCHIVE#etcd (deprecated)",
        group=PROGRAMS,
        metavar="ARCHIVE",
        name="etcd_binary_tar",
        deprecated="--etcd-binary ARCHIVE#etcd",
    )
    prometheus_archive: str = option(
        "",
        "Same as --prometheus-binary ARCHIVE#prometheus (deprecated)",
        group=PROGRAMS,
        metavar="ARCHIVE",
        name="prometheus_binary_tar",
        deprecated="--prometheus-binary ARCHIVE#prometheus",
    )
    kind_binary: str = binary_option("kind")
    kind_version: str = version_option(
        "kind", DEFAULT_KIND_VERSION, version_checks.kind, original="v0.32.0"
    )
    kind_binary_prefix: str = option(
        "",
        "Mirror of the downloads of kind",
        group=PROGRAMS,
        metavar="URL",
        flag="",
    )
    kind_node_image: str = option(
        "",
        "Image of the node that kind makes, or a file that holds it [default: the one of kind's "
        "project for the Kubernetes version]",
        group=PROGRAMS,
        metavar="IMAGE-OR-FILE",
    )
    kind_node_image_prefix: str = option(
        NODE_IMAGE_PREFIX,
        "Registry and folder of the node image",
        group=PROGRAMS,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorOptions:
    """Mirrors of the projects' downloads and registries."""

    kube_binary_prefix: str = option(
        "", "Mirror of the Kubernetes downloads", group=PROGRAMS, metavar="URL", flag=""
    )
    etcd_binary_prefix: str = option(
        "", "Mirror of the etcd downloads", group=PROGRAMS, metavar="URL", flag=""
    )
    kube_image_prefix: str = option(
        "",
        "Mirror of the Kubernetes images",
        group=IMAGES,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )
    etcd_image_prefix: str = option(
        "",
        "Mirror of the etcd image",
        group=IMAGES,
        metavar="PREFIX",
        flag="",
        check=checks.image,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """The limits of containers on this machine."""

    memory: tuple[str, ...] = option(
        (),
        "Memory limit of the containers, such as 4Gi for each, or etcd=1Gi for one",
        group=IMAGES,
        metavar="LIMIT,…",
        name="memory_limit",
    )
    cpu: tuple[str, ...] = option(
        (),
        "CPU limit of the containers, such as 2 for each, or kube-scheduler=0.5 for one",
        group=IMAGES,
        metavar="LIMIT,…",
        name="cpu_limit",
    )
