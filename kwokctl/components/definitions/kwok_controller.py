"""Describes the embedded fake-node controller."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kwokctl import __version__
from kwokctl.components import cluster_identities, spans, verbosity
from kwokctl.components.command_line import Value, flags
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import etcd
from kwokctl.components.fake_nodes import (
    has_kubelet,
    internal_address,
    kubelet_address,
    kubelet_port,
    reached_host,
    selecting,
)
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.metrics_page import MetricsPage, relayed_page
from kwokctl.components.setting import Setting
from kwokctl.components.stage_sets import KUBELET_PODS, check_word
from kwokctl.config import checks
from kwokctl.config.declaring import (
    COMPONENTS,
    NODES,
    ComponentOptions,
    binary_option,
    option,
    port_option,
)
from kwokctl.config.document_kinds import FOR_KUBELET
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original.compat import KWOKCTL
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.host.ports import joined
from kwokctl.model import (
    KUBE_APISERVER,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    Artifact,
    Component,
    ComponentName,
    HttpProbe,
    Identity,
    Port,
)

_FLAGS = {
    "nodeName": "node-name",
    "nodeIP": "node-ip",
    "nodePlayStageParallelism": "node-play-stage-parallelism",
    "podPlayStageParallelism": "pod-play-stage-parallelism",
}
"""The flags of options that documents may give, too."""


def _check_dialect(word: str) -> checks.InvalidText | None:
    from kwokctl.faults.classes.dialect_names import check_dialect  # only if there is a word

    return check_dialect(word)


LEAST_HEARTBEAT = 10.0
"""Seconds between two heartbeats of a node's dialects at least."""


def _check_heartbeats(word: str) -> checks.InvalidText | None:
    try:
        seconds = parse_duration(word)
    except ExpressionError:
        return checks.InvalidText("not a duration", "for example: 300s or 5m")
    if seconds < LEAST_HEARTBEAT:
        return checks.InvalidText("too often", f"give at least {LEAST_HEARTBEAT:g}s, such as 300s")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class KwokControllerOptions(ComponentOptions):
    """The options of the fake-node controller."""

    component: ClassVar = KWOK_CONTROLLER

    port: int = port_option(
        "Fake-node controller", name="controller_port", key="kwokControllerPort"
    )
    binary: str = binary_option(
        "A controller to run instead of the embedded one", env="CONTROLLER_BINARY"
    )
    stages: tuple[str, ...] = option(
        (),
        "Set of Stages for nodes or pods, such as pod-general, in place of the default one; none "
        "for no default set; STAGE- to leave out a single Stage",
        group=NODES,
        metavar="SET,…",
        name="stage",
        key="stages",
        env="STAGES",
        check=check_word,
    )
    parallelism: int = option(
        0,
        "How many nodes, and how many pods, the embedded controller writes in parallel; 0 for the "
        "default of 64",
        group=NODES,
        metavar="N",
        name="controller_parallelism",
        within=(0, 10_000),
        original=4,
    )
    fault_dialects: tuple[str, ...] = option(
        (),
        "Stacks that look for faults on the nodes, such as aks or device-plugin: nodes that kwokctl makes "
        "have their healthy conditions from birth, and they show the faults that name no dialect "
        "[default: no conditions; npd and device-plugin show faults]",
        group=NODES,
        metavar="DIALECT,…",
        name="fault_dialects",
        key="faultDialects",
        env="",
        check=_check_dialect,
    )
    dialect_heartbeats: str = option(
        "",
        "How often the heartbeats of the conditions of --fault-dialects are renewed, such as 300s, past "
        "the API server [default: never]",
        group=NODES,
        metavar="DURATION",
        name="dialect_heartbeats",
        key="dialectHeartbeats",
        env="",
        check=_check_heartbeats,
    )
    enable_crds: tuple[str, ...] = option(
        (),
        "Kinds of documents that the cluster also serves as custom resources, so that they can be "
        "changed while it runs: Stage, Logs, Exec and so on",
        group=COMPONENTS,
        metavar="KIND,…",
        name="enable_crds",
        key="enableCRDs",
        env="",
        check=checks.resource_kind,
    )


def kwok_controller(setting: Setting) -> Component:
    """Describe the controller that plays what the kubelets of all nodes do by themselves."""
    own = setting.options.of(KwokControllerOptions)
    port, is_ours = own.port, not own.binary
    address, bind = setting.address(KWOK_CONTROLLER), setting.bind(KWOK_CONTROLLER)
    node, host = (
        kubelet_address(setting),
        bind if is_ours else reached_host(setting, KWOK_CONTROLLER),
    )
    return Component(
        name=KWOK_CONTROLLER,
        artifact=setting.artifacts[KWOK_CONTROLLER],
        args=flags(
            {
                "kubeconfig": setting.kubeconfig(KWOK_CONTROLLER),
                "config": str(setting.site.path(setting.paths.saved)),
                **selecting(setting),
                **_unless_given(
                    setting, {"nodeName": node.name, "nodeIP": internal_address(setting)}
                ),
                "node-port": kubelet_port(setting),
                "kubelet-address": node.name if is_ours else None,
                "server-address": joined(host, port),
                # Another controller is a kubelet server, too.
                **({} if is_ours else _tls(setting)),
                **({} if is_ours else spans.controller_flags(setting, KWOK_CONTROLLER)),
                # As kubelets do, and the same for every cluster: a restarted controller, and the controller of a
                # cluster restored from another's snapshot, renews the leases instead of waiting
                # until they expire.
                "holder-identity": "{node}" if is_ours else None,
                "node-lease-duration-seconds": heartbeat(setting.options).lease_seconds,
                "enable-crds": ",".join(_custom_kinds(own)) or None,
                "fault-dialects": ",".join(own.fault_dialects) or None if is_ours else None,
                "dialect-heartbeats": own.dialect_heartbeats or None if is_ours else None,
                "pods": "kubelet" if KUBELET_PODS in own.stages else None,
                "server-token-file": str(setting.paths.controller_token) if is_ours else None,
                "fleet-metrics": _fleet_metrics(setting) if is_ours else None,
                **(_parallelism(setting) if is_ours else {}),
                **(_data_path(setting) if is_ours else {}),
                "v": verbosity.of_embedded(setting.options, is_ours=is_ours),
            },
            setting.user_args(KWOK_CONTROLLER),
        ),
        ports=(Port(name="http", port=port, host_port=port),),
        # One that listens only where its nodes are reached is not heard here; it has to run.
        ready=(HttpProbe(url=f"http://{address}/readyz"),) if host == bind else (),
        after=frozenset({KUBE_APISERVER}),
        # An administrator needs none of the roles that the API server makes before it is ready.
        is_early=is_ours,
        uses=frozenset({KUBE_APISERVER}),
    )


def _fleet_metrics(setting: Setting) -> str | None:
    """Return the kubelet server whose metrics scrape configurations of the original find here."""
    if setting.options.compat != KWOKCTL or not has_kubelet(setting):
        return None
    return f"https://{setting.address(KWOK_KUBELET, dialler=KWOK_CONTROLLER)}"


def _custom_kinds(own: KwokControllerOptions) -> Sequence[str]:
    """Return the kinds that the controller reads; the kubelet server beside ours reads the others."""
    return [kind for kind in own.enable_crds if own.binary or kind not in FOR_KUBELET]


def _tls(setting: Setting) -> dict[str, Value]:
    return {
        "tls-cert-file": setting.pki(f"{KWOK_CONTROLLER}.crt"),
        "tls-private-key-file": setting.pki(f"{KWOK_CONTROLLER}.key"),
    }


def _parallelism(setting: Setting) -> dict[str, Value]:
    number = setting.options.of(KwokControllerOptions).parallelism
    names = ("nodePlayStageParallelism", "podPlayStageParallelism")
    return _unless_given(setting, dict.fromkeys(names, number)) if number else {}


def _unless_given(setting: Setting, values: Mapping[str, str | int]) -> dict[str, Value]:
    """Return the flags of those options that the user's documents leave open."""
    return {
        _FLAGS[name]: value
        for name, value in values.items()
        if not setting.controller_options.get(name)
    }


def _data_path(setting: Setting) -> dict[str, Value]:
    """Return the flags that name etcd if statuses and leases are written to it."""
    if not setting.writes_to_etcd:
        return {}
    options, target = setting.options, etcd.target(setting)
    return {
        # A user who asks for etcd bypasses webhooks, too; if kwokctl chose etcd, they are
        # respected.
        "data-path": "etcd" if options.data_path.path == "etcd" else "auto",
        "etcd-endpoint": target.address,
        "etcd-cafile": str(target.ca) if target.ca else None,
        "etcd-certfile": str(target.cert) if target.cert else None,
        "etcd-keyfile": str(target.key) if target.key else None,
        "etcd-prefix": options.of(etcd.EtcdOptions).prefix,
        "managed-fields": False if options.data_path.managed_fields == "off" else None,
    }


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    # A Stage may write any kind, so the fake-node controller may do everything.
    group = cluster_identities.ADMIN_GROUP
    return (cluster_identities.serving(options, KWOK_CONTROLLER, "kwok-controller", group),)


def _metrics(setting: Setting, dialler: ComponentName | None) -> MetricsPage | None:
    """Return the page without the right to reserve addresses, which the controller's token gives."""
    if setting.options.of(KwokControllerOptions).binary:
        return MetricsPage(address=setting.address(KWOK_CONTROLLER, dialler=dialler), client="")
    return relayed_page(KWOK_CONTROLLER, setting, dialler) if has_kubelet(setting) else None


DEFINITION = Definition(
    options=KwokControllerOptions,
    build=kwok_controller,
    identities=_identities,
    is_client=True,
    metrics=_metrics,
    embedded=Artifact(
        name=KWOK_CONTROLLER,
        version=__version__,
        command=(sys.executable, "-P", "-m", "kwokctl.controller"),
    ),
)
