"""Describes kube-apiserver."""

from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import ClassVar

from kwokctl.components import cluster_identities, spans, verbosity
from kwokctl.components.command_line import Value
from kwokctl.components.definition import Definition
from kwokctl.components.definitions import etcd, kwok_kubelet
from kwokctl.components.fake_nodes import KUBELET_ADDRESS, NOWHERE, has_kubelet
from kwokctl.components.metrics_page import own_page
from kwokctl.components.setting import Setting
from kwokctl.config import checks
from kwokctl.config.declaring import (
    SERVER,
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.host.ports import LOOPBACK, dialled
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KWOK_API_PROXY,
    Component,
    ComponentName,
    Identity,
    Mount,
    Port,
)

_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeApiserverOptions(ComponentOptions):
    """The options of the API server."""

    component: ClassVar = KUBE_APISERVER

    port: int = port_option("API server")
    runtime_config: str = option(
        "",
        "API groups to serve (--runtime-config)",
        group=SERVER,
        name="kube_runtime_config",
        check=checks.runtime_config,
    )
    audit_policy: str = option(
        "",
        "Audit policy file; turns the audit log on",
        group=SERVER,
        metavar="FILE",
        name="kube_audit_policy",
    )
    admission: bool = option(
        True,
        "Run the admission plugins that are on by default",
        group=SERVER,
        name="kube_admission",
    )
    cert_sans: tuple[str, ...] = option(
        (),
        "More names and addresses for the API server's certificate",
        group=SERVER,
        metavar="NAME,…",
        flag="",
        env="",
        key="kubeApiserverCertSANs",
        check=checks.host_name,
    )
    binary: str = binary_option("kube-apiserver")
    image: str = image_option("kube-apiserver")


def url(setting: Setting, dialler: ComponentName | None = None) -> str:
    """Return the URL at which clients dial the API server, or the proxy in front of it.

    `dialler` is the component that dials; without one, it is this host.
    """
    has_proxy = KWOK_API_PROXY in setting.artifacts
    name = KWOK_API_PROXY if has_proxy else KUBE_APISERVER
    return f"https://{setting.address(name, dialler=dialler)}"


def own_url(setting: Setting) -> str:
    """Return the URL at which this host dials the API server itself."""
    return f"https://{setting.address(KUBE_APISERVER)}"


def prefix(setting: Setting) -> str:
    """Return the path in etcd under which the API server keeps its objects."""
    given = setting.user_args(KUBE_APISERVER).get("etcd-prefix") or _prefix(setting)
    return f"/{given.strip('/')}"


def kube_apiserver(setting: Setting) -> Component:
    """Describe the API server.

    It starts together with etcd: an API server that finds no etcd backs off and loses seconds.
    """
    own, common = setting.options.of(KubeApiserverOptions), setting.options.arguments
    inside = setting.site.port(KUBE_APISERVER, own.port)
    return Component(
        name=KUBE_APISERVER,
        artifact=setting.artifacts[KUBE_APISERVER],
        args=setting.arguments(
            KUBE_APISERVER,
            {
                "etcd-servers": etcd.endpoint(setting),
                **_etcd_identity(setting),
                "etcd-prefix": _prefix(setting),
                "bind-address": setting.bind(KUBE_APISERVER),
                "advertise-address": _advertised(setting),
                "secure-port": inside,
                "allow-privileged": True,
                "kubelet-preferred-address-types": ",".join(_kubelet_addresses(setting)),
                "authorization-mode": "Node,RBAC" if common.authorization else "AlwaysAllow",
                # Empty, it turns all plugins off, also those that are on by default.
                "admission-control": None if own.admission else "",
                "runtime-config": own.runtime_config or None,
                **spans.api_server_flags(setting),
                "v": verbosity.of_kubernetes(setting.options),
                **_identity(setting),
                **_own_ways(setting),
                **_limits(setting),
                **_audit(setting),
                # Otherwise an API server with an open watch takes a minute to end after SIGTERM.
                "shutdown-watch-termination-grace-period": "1s",
            },
        ),
        env=spans.environment(setting, KUBE_APISERVER),
        ports=(Port(name="https", port=inside, host_port=own.port),),
        mounts=_mounts(setting),
        ready=(setting.probe(f"{own_url(setting)}/readyz"),),
        answers=(setting.probe(f"{own_url(setting)}/livez/ping"),),
        uses=frozenset({ETCD}),
        certified_names=own.cert_sans,
        files=spans.api_server_files(setting),
    )


def _kubelet_addresses(setting: Setting) -> tuple[str, ...]:
    """Return the types of a node's addresses: its internal one first if there is a socket to ask for it."""
    if kwok_kubelet.has_node_proxy(setting):
        return ("InternalIP", KUBELET_ADDRESS)
    return kwok_kubelet.address_types(setting)


def _advertised(setting: Setting) -> str | None:
    """Return an address for the Service `kubernetes` where the API server finds none and would end.

    It takes that of the interface of the default route, unless it listens at one that it can use.
    """
    if setting.has_route or setting.site.bind(KUBE_APISERVER) != LOOPBACK:
        return None
    bind = setting.bind(KUBE_APISERVER)
    return None if dialled(bind) == bind and not ip_address(bind).is_loopback else NOWHERE


def _prefix(setting: Setting) -> str:
    return setting.options.of(etcd.EtcdOptions).prefix


def _mounts(setting: Setting) -> tuple[Mount, ...]:
    paths = setting.paths
    audit = (
        (setting.mount(paths.audit_policy), setting.mount(paths.logs, read_only=False))
        if setting.options.of(KubeApiserverOptions).audit_policy
        else ()
    )
    traced = spans.api_server_mounts(setting)
    return (setting.mount(paths.pki), setting.mount(paths.sockets), *audit, *traced)


def _etcd_identity(setting: Setting) -> dict[str, Value]:
    """Return the flags for TLS to etcd: its CA, and a client certificate; none for a socket."""
    if etcd.target(setting).ca is None:
        return {}
    return {
        "etcd-cafile": setting.pki("ca.crt"),
        "etcd-certfile": setting.pki(f"{cluster_identities.ETCD_CLIENT}.crt"),
        "etcd-keyfile": setting.pki(f"{cluster_identities.ETCD_CLIENT}.key"),
    }


def _identity(setting: Setting) -> dict[str, Value]:
    return {
        "client-ca-file": setting.pki("ca.crt"),
        "token-auth-file": setting.pki("tokens.csv"),
        "service-account-key-file": setting.pki("sa.pub"),
        "service-account-signing-key-file": setting.pki("sa.key"),
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "proxy-client-cert-file": setting.pki(f"{cluster_identities.FRONT_PROXY}.crt"),
        "proxy-client-key-file": setting.pki(f"{cluster_identities.FRONT_PROXY}.key"),
        # A user with a certificate for this name, as every approved request for one may ask for,
        # would otherwise be taken for the API server, and could act as any user.
        "requestheader-client-ca-file": setting.pki(f"{cluster_identities.FRONT_PROXY_CA}.crt"),
        "requestheader-allowed-names": cluster_identities.FRONT_PROXY,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    }


def _own_ways(setting: Setting) -> dict[str, Value]:
    """Return the flags that the runtime sets instead where there are real nodes."""
    if setting.site.has_own_nodes:
        return {"kubelet-certificate-authority": kwok_kubelet.authority(setting)}
    return {
        "tls-cert-file": setting.pki(f"{KUBE_APISERVER}.crt"),
        "tls-private-key-file": setting.pki(f"{KUBE_APISERVER}.key"),
        **_kubelet_identity(setting),
        # No pod is real, so nothing dials the service of the API server.
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.96.0.0/16",
    }


def _kubelet_identity(setting: Setting) -> dict[str, Value]:
    """Return the flags with which the API server and the kubelet server authenticate each other."""
    if not has_kubelet(setting):
        return {}
    by_socket = kwok_kubelet.has_node_proxy(setting)
    paths = setting.paths
    return {
        "egress-selector-config-file": str(setting.site.path(paths.egress)) if by_socket else None,
        "kubelet-certificate-authority": kwok_kubelet.authority(setting),
        "kubelet-client-certificate": setting.pki(f"{cluster_identities.KUBELET_CLIENT}.crt"),
        "kubelet-client-key": setting.pki(f"{cluster_identities.KUBELET_CLIENT}.key"),
    }


def _limits(setting: Setting) -> dict[str, Value]:
    if not setting.options.arguments.disable_qps_limits:
        return {}
    return {
        "max-requests-inflight": 0,
        "max-mutating-requests-inflight": 0,
        "enable-priority-and-fairness": False,
    }


def _audit(setting: Setting) -> dict[str, Value]:
    if not setting.options.of(KubeApiserverOptions).audit_policy:
        return {}
    return {
        "audit-policy-file": str(setting.site.path(setting.paths.audit_policy)),
        "audit-log-path": str(setting.site.path(setting.paths.logs / "audit.log")),
    }


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    given = options.of(KubeApiserverOptions).cert_sans
    here = cluster_identities.here(options)
    return (
        Identity(
            name=KUBE_APISERVER,
            common_name="kube-apiserver",
            server=True,
            client=False,
            server_names=(KUBE_APISERVER, *_NAMES, *here, cluster_identities.SERVICE_IP, *given),
        ),
        Identity(
            name=cluster_identities.FRONT_PROXY,
            common_name=cluster_identities.FRONT_PROXY,
            authority=cluster_identities.FRONT_PROXY_CA,
        ),
        Identity(
            name=cluster_identities.KUBELET_CLIENT,
            common_name=cluster_identities.KUBELET_CLIENT,
            organizations=(cluster_identities.ADMIN_GROUP,),
        ),
    )


DEFINITION = Definition(
    options=KubeApiserverOptions,
    build=kube_apiserver,
    identities=_identities,
    metrics=partial(own_page, KUBE_APISERVER),
    is_required=True,
)
