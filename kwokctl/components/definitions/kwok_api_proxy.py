"""Describes the proxy between all clients and the API server, which carries out faults of the API."""

import sys
from dataclasses import dataclass
from typing import ClassVar

from kwokctl import __version__
from kwokctl.components import cluster_identities, verbosity
from kwokctl.components.command_line import flags
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import SERVER, ComponentOptions, option, port_option
from kwokctl.config.options import ClusterOptions
from kwokctl.host.ports import joined
from kwokctl.model import KUBE_APISERVER, KWOK_API_PROXY, Artifact, Component, Port

_READY, _ANSWERS = "/readyz", "/livez/ping"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiProxyOptions(ComponentOptions):
    """The options of the proxy in front of the API server."""

    component: ClassVar = KWOK_API_PROXY

    port: int = port_option(
        "API server as clients dial it with --api-faults",
        name="api_proxy_port",
    )
    api_faults: bool = option(
        False,
        "Let the API be broken by 'fault inject api-latency', 'api-429', 'api-5xx' and 'watch-cut': all clients "
        "dial a proxy in front of the API server (runtime binary; fake kubelets write through the API server)",
        group=SERVER,
        name="api_faults",
    )


def api_proxy(setting: Setting) -> Component:
    """Describe the proxy.

    It starts beside the API server: the other components find it when they start, and it is ready when that is.
    """
    port = setting.port(KWOK_API_PROXY)
    proxied = kube_apiserver.url(setting)
    front = cluster_identities.FRONT_PROXY
    return Component(
        name=KWOK_API_PROXY,
        artifact=setting.artifacts[KWOK_API_PROXY],
        args=flags(
            {
                "listen-address": joined(setting.bind(KWOK_API_PROXY), port),
                "server-address": setting.address(KUBE_APISERVER),
                "kubeconfig": str(setting.paths.own_kubeconfig),
                "ca-file": setting.pki("ca.crt"),
                "tls-cert-file": setting.pki(f"{KUBE_APISERVER}.crt"),
                "tls-private-key-file": setting.pki(f"{KUBE_APISERVER}.key"),
                "front-proxy-cert-file": setting.pki(f"{front}.crt"),
                "front-proxy-key-file": setting.pki(f"{front}.key"),
                "token-auth-file": setting.pki("tokens.csv"),
                "v": verbosity.of_embedded(setting.options),
            },
            setting.user_args(KWOK_API_PROXY),
        ),
        ports=(Port(name="https", port=port, host_port=port),),
        ready=(setting.probe(f"{proxied}{_READY}"),),
        answers=(setting.probe(f"{proxied}{_ANSWERS}"),),
        uses=frozenset({KUBE_APISERVER}),
    )


def _is_added(options: ClusterOptions) -> bool:
    return options.of(ApiProxyOptions).api_faults


DEFINITION = Definition(
    options=ApiProxyOptions,
    build=api_proxy,
    embedded=Artifact(
        name=KWOK_API_PROXY,
        version=__version__,
        command=(sys.executable, "-P", "-m", "kwokctl.api_proxy"),
    ),
    is_added=_is_added,
)
