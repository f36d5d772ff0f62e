"""Describes metrics-server: what `kubectl top` shows, and autoscalers act on."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kwokctl import assets
from kwokctl.artifacts.versions import DEFAULT_METRICS_SERVER_VERSION, metrics_server_version
from kwokctl.components import cluster_identities, verbosity
from kwokctl.components.command_line import Value, flags
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import kube_apiserver, kwok_kubelet
from kwokctl.components.fake_nodes import has_kubelet
from kwokctl.components.metrics_page import SECONDS, own_page
from kwokctl.components.setting import Setting
from kwokctl.config import version_checks
from kwokctl.config.declaring import (
    COMPONENTS,
    ComponentOptions,
    binary_option,
    binary_prefix_option,
    image_option,
    image_prefix_option,
    option,
    port_option,
    version_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.model import (
    KUBE_APISERVER,
    METRICS_SERVER,
    Component,
    Identity,
    Mount,
    Port,
)

_USER = "kwokctl:metrics-server"
_SERVICE = "metrics-server.kube-system.svc"
"""The name in its certificate, which the API server verifies."""
_OBJECTS = "components/metrics-server.yaml"
_MARGIN = 10
"""Seconds: the last node must be asked before the next round begins."""
_NO_NODE = "?labelSelector=kwokctl.dev%2Fno-node"
"""Asks for what no node has, so that an answer is small however many nodes there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsServerOptions(ComponentOptions):
    """The options of metrics-server."""

    component: ClassVar = METRICS_SERVER

    port: int = port_option("metrics-server")
    version: str = version_option(
        "metrics-server",
        DEFAULT_METRICS_SERVER_VERSION,
        version_checks.metrics_server,
        original="v0.8.1",
    )
    resolution: int = option(
        0,
        "Seconds between two rounds of metrics-server through all nodes [default: 15, and 60 for "
        "5,000 nodes or more]",
        group=COMPONENTS,
        metavar="SECONDS",
        within=(0, 3600),
        original=15,
    )
    binary: str = binary_option("metrics-server")
    image: str = image_option("metrics-server")
    binary_prefix: str = binary_prefix_option("metrics-server")
    image_prefix: str = image_prefix_option("metrics-server")


def metrics_server(setting: Setting) -> Component:
    """Describe metrics-server.

    It is ready when the API server passes a question on to it and it answers: what it has not
    measured yet it leaves out.
    """
    port = setting.port(METRICS_SERVER)
    inside = setting.site.port(METRICS_SERVER, port)
    through = f"{kube_apiserver.own_url(setting)}/apis/metrics.k8s.io/v1beta1/nodes{_NO_NODE}"
    return Component(
        name=METRICS_SERVER,
        artifact=setting.artifacts[METRICS_SERVER],
        args=_arguments(setting, inside),
        ports=(Port(name="https", port=inside, host_port=port),),
        mounts=_mounts(setting),
        ready=(
            setting.probe(f"https://{setting.address(METRICS_SERVER)}/livez"),
            setting.probe(through),
        ),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
        objects=_objects(setting),
    )


def _arguments(setting: Setting, port: int) -> tuple[str, ...]:
    kubeconfig = setting.kubeconfig(METRICS_SERVER)
    return flags(
        {
            "kubeconfig": kubeconfig,
            "authentication-kubeconfig": kubeconfig,
            "authorization-kubeconfig": kubeconfig,
            "bind-address": setting.bind(METRICS_SERVER),
            "secure-port": port,
            "tls-cert-file": setting.pki(f"{METRICS_SERVER}.crt"),
            "tls-private-key-file": setting.pki(f"{METRICS_SERVER}.key"),
            **_rounds(setting.options.of(MetricsServerOptions).resolution),
            **_kubelets(setting),
            "v": verbosity.of_kubernetes(setting.options),
        },
        setting.user_args(METRICS_SERVER),
    )


def _mounts(setting: Setting) -> tuple[Mount, ...]:
    """Show it no keys but its own."""
    files = ("ca.crt", f"{METRICS_SERVER}.crt", f"{METRICS_SERVER}.key")
    own = [setting.paths.pki / file for file in files]
    return tuple(map(setting.mount, (*own, setting.paths.component_kubeconfig(METRICS_SERVER))))


def _rounds(given: int) -> dict[str, Value]:
    seconds = given or SECONDS
    return {"metric-resolution": f"{seconds}s", "kubelet-request-timeout": _patience(seconds)}


def _patience(seconds: int) -> str | None:
    """Return how long a request may take: its own limit of ten seconds must be less than a round.

    In a long round a request that waits longer is no failure.
    """
    if seconds <= _MARGIN:
        return f"{seconds - 1}s"
    return f"{seconds - _MARGIN}s" if seconds > 2 * _MARGIN else None


def _kubelets(setting: Setting) -> dict[str, Value]:
    """Return the flags with which it reaches kubelets: those of fake nodes, and on kind those of real nodes."""
    is_verified = has_kubelet(setting) or not setting.site.has_own_nodes
    return {
        "kubelet-preferred-address-types": ",".join(kwok_kubelet.address_types(setting)),
        "kubelet-use-node-status-port": True,
        "kubelet-insecure-tls": None if is_verified else True,
        "kubelet-certificate-authority": setting.pki("ca.crt") if is_verified else None,
        "kubelet-client-certificate": setting.pki(f"{METRICS_SERVER}.crt"),
        "kubelet-client-key": setting.pki(f"{METRICS_SERVER}.key"),
    }


def _objects(setting: Setting) -> tuple[Json, ...]:
    host, _, port = setting.address(METRICS_SERVER, dialler=KUBE_APISERVER).rpartition(":")
    host = "localhost" if ":" in host else host  # the name of a service is no IPv6 address
    text = assets.text(_OBJECTS).replace("USER", _USER)
    return tuple(yaml.load_all(text.replace("HOST", host).replace("PORT", port)))


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    names = (*cluster_identities.here(options), METRICS_SERVER, _SERVICE)
    return (Identity(name=METRICS_SERVER, common_name=_USER, server=True, server_names=names),)


DEFINITION = Definition(
    options=MetricsServerOptions,
    build=metrics_server,
    identities=_identities,
    is_client=True,
    metrics=partial(own_page, METRICS_SERVER),
    version=lambda options: metrics_server_version(options.of(MetricsServerOptions).version),
)
