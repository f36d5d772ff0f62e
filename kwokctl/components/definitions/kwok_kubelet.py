"""Describes the kubelet server, which answers as the kubelet of every fake node."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kwokctl import __version__
from kwokctl.components import cluster_identities, verbosity
from kwokctl.components.command_line import Value, flags
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import etcd
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.fake_nodes import KUBELET_ADDRESS, has_kubelet, listening, selecting
from kwokctl.components.metrics_page import own_page
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import NODES, ComponentOptions, option, port_option
from kwokctl.config.document_kinds import FOR_KUBELET
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original.compat import KWOKCTL
from kwokctl.model import (
    KUBE_APISERVER,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    PROMETHEUS,
    Artifact,
    Component,
    HttpProbe,
    Identity,
    Port,
)
from kwokctl.runtime import HOST

_SELECTING = {
    "manageSingleNode": "manage-single-node",
    "manageAllNodes": "manage-all-nodes",
    "manageNodesWithAnnotationSelector": "manage-nodes-with-annotation-selector",
    "manageNodesWithLabelSelector": "manage-nodes-with-label-selector",
}
"""The options of documents that select nodes, and the flags for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KwokKubeletOptions(ComponentOptions):
    """The options of the kubelet server."""

    component: ClassVar = KWOK_KUBELET

    port: int = port_option("Kubelet of all fake nodes", name="kubelet_port", key="kubeletPort")
    node_proxy: bool = option(
        False,
        "Serve nodes/proxy of the API: the API server then connects to the cluster through the "
        "kubelet server (runtime binary only)",
        group=NODES,
        name="node_proxy",
    )


def has_node_proxy(setting: Setting) -> bool:
    """Return whether the API server reaches nodes at their own addresses, through a socket."""
    return has_kubelet(setting) and setting.options.of(KwokKubeletOptions).node_proxy


def address_types(setting: Setting) -> tuple[str, ...]:
    """Return the types of a node's addresses, in the order in which its kubelet is looked for.

    A fake node's internal addresses lead nowhere. The certificates of real kubelets have the names of
    their nodes. Other names of hosts are left out: looking one up would query DNS servers outside this
    machine.
    """
    names = ("Hostname",) if setting.site.has_own_nodes and has_kubelet(setting) else ()
    return (KUBELET_ADDRESS, *names, "InternalDNS", "InternalIP")


def authority(setting: Setting) -> str | None:
    """Return what has signed the certificates of all kubelets; None where they cannot be verified.

    Another controller has a certificate of its own. No certificate has the addresses of all nodes; but
    only its owner can listen at the socket.
    """
    is_verified = has_kubelet(setting) and not has_node_proxy(setting)
    return setting.pki("ca.crt") if is_verified else None


def kwok_kubelet(setting: Setting) -> Component:
    """Describe the kubelet server."""
    port = setting.port(KWOK_KUBELET)
    address = setting.address(KWOK_KUBELET)
    return Component(
        name=KWOK_KUBELET,
        artifact=setting.artifacts[KWOK_KUBELET],
        args=flags(
            {
                "kubeconfig": setting.kubeconfig(KWOK_KUBELET),
                "config": str(setting.site.path(setting.paths.saved)),
                "enable-crds": ",".join(_custom_kinds(setting)) or None,
                **_selection(setting),
                "egress-socket": _egress_socket(setting),
                "server-address": listening(setting, KWOK_KUBELET, port),
                "tls-cert-file": setting.pki(f"{KWOK_KUBELET}.crt"),
                "tls-private-key-file": setting.pki(f"{KWOK_KUBELET}.key"),
                "client-ca-file": setting.pki("ca.crt"),
                "enable-debugging-handlers": _debugging(setting),
                "enable-profiling": _profiling(setting),
                "v": verbosity.of_embedded(setting.options),
                **(_relays(setting) if PROMETHEUS in setting.artifacts else {}),
            },
            setting.user_args(KWOK_KUBELET),
        ),
        ports=(Port(name="https", port=port, host_port=port),),
        ready=(HttpProbe(url=f"http://{address}/readyz"),),
        after=frozenset({KUBE_APISERVER}),
        # An administrator needs none of the roles that the API server makes before it is ready.
        is_early=True,
        uses=frozenset({KUBE_APISERVER}),
    )


def _selection(setting: Setting) -> dict[str, Value]:
    given = setting.controller_options
    said: dict[str, Value] = {
        flag: value
        for name, flag in _SELECTING.items()
        if isinstance(value := given.get(name), str | bool) and value
    }
    return {**said, **selecting(setting)}


def _custom_kinds(setting: Setting) -> Sequence[str]:
    """Return the kinds of documents that are custom resources, too, of those that it reads."""
    flagged = setting.options.of(KwokControllerOptions).enable_crds
    given = setting.controller_options.get("enableCRDs")
    listed = given if isinstance(given, list) else ()
    return sorted(FOR_KUBELET & {*flagged, *listed})


def _egress_socket(setting: Setting) -> Value:
    return str(setting.paths.egress_socket) if has_node_proxy(setting) else None


def _debugging(setting: Setting) -> Value:
    return False if setting.controller_options.get("enableDebuggingHandlers") is False else None


def _profiling(setting: Setting) -> Value:
    """Return whether profiles are served, which is off by default, unlike in the original."""
    given = setting.controller_options.get("enableProfilingHandler")
    asked = setting.options.compat == KWOKCTL if given is None else given
    return True if asked else None


def _relays(setting: Setting) -> dict[str, Value]:
    """Return where the metrics are that it relays to Prometheus."""
    relayed: dict[str, Value] = {}
    if _is_ours(setting):
        url = f"http://{setting.address(KWOK_CONTROLLER, dialler=KWOK_KUBELET)}/metrics"
        token = str(setting.paths.controller_token)
        relayed |= {"controller-metrics-url": url, "controller-token-file": token}
    if setting.options.of(etcd.EtcdOptions).tls:
        page = etcd.page(setting, "/metrics")
        relayed |= {
            "etcd-metrics-url": page.url,
            "etcd-socket": str(page.socket) if page.socket else None,
            "etcd-cafile": str(page.ca) if page.ca else None,
            "etcd-certfile": str(page.cert) if page.cert else None,
            "etcd-keyfile": str(page.key) if page.key else None,
        }
    return relayed


def _is_ours(setting: Setting) -> bool:
    """Return whether there is a controller, and it is the embedded one."""
    return (
        KWOK_CONTROLLER in setting.artifacts
        and not setting.options.component(KWOK_CONTROLLER).binary
    )


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    # It reads nodes and pods, and has tokens and rights reviewed. Containers dial it by the name of
    # the host.
    group = cluster_identities.ADMIN_GROUP
    return (cluster_identities.serving(options, KWOK_KUBELET, "kwok-kubelet", group, also=(HOST,)),)


DEFINITION = Definition(
    options=KwokKubeletOptions,
    build=kwok_kubelet,
    identities=_identities,
    is_client=True,
    metrics=partial(own_page, KWOK_KUBELET),
    embedded=Artifact(
        name=KWOK_KUBELET,
        version=__version__,
        command=(sys.executable, "-P", "-m", "kwokctl.kubelet"),
    ),
)
