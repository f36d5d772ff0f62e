"""Describes the port of the API server that asks for no credentials."""

import sys
from dataclasses import dataclass
from typing import ClassVar

from kwokctl import __version__
from kwokctl.components import cluster_identities, verbosity
from kwokctl.components.command_line import flags
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import COMPONENTS, ComponentOptions, option, port_option
from kwokctl.host.ports import joined
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_APISERVER_INSECURE_PROXY,
    Artifact,
    Component,
    HttpProbe,
    Port,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsecureProxyOptions(ComponentOptions):
    """The options of the port without credentials."""

    component: ClassVar = KUBE_APISERVER_INSECURE_PROXY

    port: int = port_option(
        "API server without TLS and credentials: everyone who reaches the port is an administrator; 0 for none",
        name="kube_apiserver_insecure_port",
    )
    is_for_context: bool = option(
        False,
        "Use the port without credentials in the context of the kubeconfig",
        group=COMPONENTS,
        name="insecure_kubeconfig",
        flag="",
        env="",
    )


def url(setting: Setting) -> str:
    """Return the URL of the port; empty if the cluster has none."""
    if KUBE_APISERVER_INSECURE_PROXY not in setting.artifacts:
        return ""
    return f"http://{setting.address(KUBE_APISERVER_INSECURE_PROXY)}"


def insecure_proxy(setting: Setting) -> Component:
    """Describe the process that passes each connection on, with the administrator's certificate."""
    port = setting.port(KUBE_APISERVER_INSECURE_PROXY)
    pki, admin = setting.paths.pki, cluster_identities.ADMIN
    return Component(
        name=KUBE_APISERVER_INSECURE_PROXY,
        artifact=setting.artifacts[KUBE_APISERVER_INSECURE_PROXY],
        args=flags(
            {
                "listen-address": joined(setting.bind(KUBE_APISERVER_INSECURE_PROXY), port),
                "server-address": kube_apiserver.url(setting).removeprefix("https://"),
                "ca-file": str(pki / "ca.crt"),
                "cert-file": str(pki / f"{admin}.crt"),
                "key-file": str(pki / f"{admin}.key"),
                "v": verbosity.of_embedded(setting.options),
            },
            setting.user_args(KUBE_APISERVER_INSECURE_PROXY),
        ),
        ports=(Port(name="http", port=port, host_port=port),),
        ready=(HttpProbe(url=f"{url(setting)}/readyz"),),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
    )


DEFINITION = Definition(
    options=InsecureProxyOptions,
    build=insecure_proxy,
    embedded=Artifact(
        name=KUBE_APISERVER_INSECURE_PROXY,
        version=__version__,
        command=(sys.executable, "-P", "-m", "kwokctl.embedded.insecure_proxy"),
    ),
    is_added_by_port=True,
)
