"""Describes kube-controller-manager."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kwokctl.components import cluster_identities
from kwokctl.components.api_client import api_client
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import kube_apiserver
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.kubernetes_releases import starts_together
from kwokctl.components.metrics_page import own_page
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import ComponentOptions, binary_option, image_option, port_option
from kwokctl.config.options import ClusterOptions
from kwokctl.model import KUBE_CONTROLLER_MANAGER, Component, Identity
from kwokctl.replacing import replace

_KEY = "service-account-private-key-file"
"""Read before the first controller is built, and with it the first cache
(cmd/kube-controller-manager/app/controllermanager.go of k8s.io/kubernetes, from 1.22 to 1.36)."""
_FILLED_AFTER_MILLISECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeControllerManagerOptions(ComponentOptions):
    """The options of the controller-manager."""

    component: ClassVar = KUBE_CONTROLLER_MANAGER

    port: int = port_option("Controller-manager")
    binary: str = binary_option("kube-controller-manager")
    image: str = image_option("kube-controller-manager")


def kube_controller_manager(setting: Setting) -> Component:
    """Describe the controller-manager.

    Its own health check answers before it has reached the API server, so it is ready when its
    work shows: the service account `default/default` exists, and pods can be created.
    """
    beat = heartbeat(setting.options)
    has_admission = setting.options.of(kube_apiserver.KubeApiserverOptions).admission
    service_account = (
        f"{kube_apiserver.own_url(setting)}/api/v1/namespaces/default/serviceaccounts/default"
    )
    # Of older releases, one without its controller of tokens does not read the key.
    is_whole = "controllers" not in setting.user_args(KUBE_CONTROLLER_MANAGER)
    component = api_client(
        setting,
        KUBE_CONTROLLER_MANAGER,
        {
            # Under its own identity it may do little; each controller has an account of its own.
            "use-service-account-credentials": True,
            "controllers": _controllers(setting),
            # In a rewind a new process starts before the old one has ended.
            "permit-port-sharing": True,
            # Until then most caches are filled; each controller would look again only after 100 ms.
            "controller-start-interval": f"{_FILLED_AFTER_MILLISECONDS}ms"
            if starts_together(setting.kube_minor)
            else None,
            "root-ca-file": setting.pki("ca.crt"),
            _KEY: setting.pki("sa.key"),
            "cluster-signing-cert-file": setting.pki("ca.crt"),
            "cluster-signing-key-file": setting.pki("ca.key"),
            "node-monitor-period": f"{beat.monitor_period_milliseconds}ms",
            "node-monitor-grace-period": f"{beat.monitor_grace_milliseconds}ms",
        },
        health="healthz",
        # Without admission pods need no service account, and not every namespace gets one at once.
        ready=(setting.probe(service_account),) if has_admission else (),
    )
    return replace(component, held_at=_KEY if is_whole else "")


def _controllers(setting: Setting) -> str:
    """Choose the controllers by the names that all releases know.

    No kubelet reads the annotations of "ttl", which writes one to each node at each start. Of the other two
    "*" contains neither, and kubeadm needs both to let a node join.
    """
    joining = ",bootstrapsigner,tokencleaner" if setting.site.has_own_nodes else ""
    return f"*,-ttl{joining}"


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    name = KUBE_CONTROLLER_MANAGER
    return (cluster_identities.serving(options, name, "system:kube-controller-manager"),)


DEFINITION = Definition(
    options=KubeControllerManagerOptions,
    build=kube_controller_manager,
    identities=_identities,
    is_client=True,
    metrics=partial(own_page, KUBE_CONTROLLER_MANAGER),
)
