"""Describes etcd."""

from dataclasses import dataclass
from typing import ClassVar

from kwokctl.artifacts.versions import etcd_release, etcd_version, kube_version
from kwokctl.components import cluster_identities, spans, verbosity
from kwokctl.components.command_line import Value, flags
from kwokctl.components.definition import Definition
from kwokctl.components.fake_nodes import has_kubelet
from kwokctl.components.metrics_page import MetricsPage, relayed_page
from kwokctl.components.setting import Setting
from kwokctl.config import checks, version_checks
from kwokctl.config.declaring import ETCD as PANEL
from kwokctl.config.declaring import (
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.config.quantity import to_bytes
from kwokctl.etcd import member
from kwokctl.etcd.member import EtcdTarget
from kwokctl.host.ports import joined
from kwokctl.model import ETCD, KUBE_APISERVER, Component, ComponentName, HttpProbe, Identity, Port

_PEERS = "unix://peer.sock"
"""The address for peers, relative to etcd's working folder, which no other user may enter.

A single member has no peers, but a client that reaches this listener can write to etcd. Of such a
URL etcd uses only the host and ignores the path; without a host the kernel would choose an abstract
socket, which has no permissions (unix(7),
https://github.com/etcd-io/etcd/blob/v3.6.16/server/embed/etcd.go, configurePeerListeners).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdOptions(ComponentOptions):
    """The options of etcd."""

    component: ClassVar = ETCD

    port: int = port_option("etcd")
    version: str = option(
        "",
        "Version of etcd; by default the one for the Kubernetes version",
        group=PANEL,
        metavar="VERSION",
        check=version_checks.etcd,
    )
    prefix: str = option(
        "/registry",
        "Prefix of all keys in etcd",
        group=PANEL,
        env="",
        metavar="PREFIX",
        check=checks.key_prefix,
    )
    quota_backend_size: str = option(
        "8Gi", "Size at which etcd refuses writes", group=PANEL, env="", metavar="QUANTITY"
    )
    tls: bool = option(
        True,
        "Require a client certificate on etcd's port; off for tools that expect a plain one",
        group=PANEL,
        key="etcdTLS",
        original=False,
    )
    fsync: str = option(
        "on",
        "Whether etcd waits until writes are on the disk: on, or off, which is faster on slow "
        "disks, but a power failure may destroy the cluster",
        group=PANEL,
        metavar="SWITCH",
        choices=("on", "off"),
    )
    binary: str = binary_option("etcd")
    image: str = image_option("etcd")


def etcd(setting: Setting) -> Component:
    """Describe a single-member etcd.

    The API server and kwokctl reach it over a unix socket, which costs half the CPU of TLS and
    only the folder's owner can open; others need a client certificate on the TCP port.
    """
    own, site = setting.options.of(EtcdOptions), setting.site
    scheme = "https" if own.tls else "http"
    inside = site.port(ETCD, own.port)
    tcp = f"{scheme}://{joined(setting.bind(ETCD), inside)}"
    socket = site.socket(setting.paths.etcd_socket)
    tls: dict[str, Value] = (
        {
            "cert-file": setting.pki(f"{ETCD}.crt"),
            "key-file": setting.pki(f"{ETCD}.key"),
            "trusted-ca-file": setting.pki("ca.crt"),
            "client-cert-auth": True,
            "client-cert-allowed-hostname": ETCD,
        }
        if own.tls
        else {}
    )
    return Component(
        name=ETCD,
        artifact=setting.artifacts[ETCD],
        args=flags(
            {
                "name": member.NAME,
                "data-dir": str(site.path(setting.paths.etcd_data)),
                "listen-client-urls": f"{tcp},unix://{socket}" if socket else tcp,
                "advertise-client-urls": tcp,
                "listen-peer-urls": _PEERS,
                "initial-advertise-peer-urls": member.ADVERTISED_PEER,
                "initial-cluster": member.CLUSTER,
                **tls,
                "auto-compaction-retention": 1,
                "quota-backend-bytes": to_bytes(own.quota_backend_size),
                # One member only: the election need not wait for other members, so it may be short.
                "heartbeat-interval": 20,
                "election-timeout": 100,
                "unsafe-no-fsync": True if own.fsync == "off" else None,
                **spans.etcd_flags(setting, version(setting.options)),
                "log-level": verbosity.in_a_word(setting.options),
            },
            setting.user_args(ETCD),
        ),
        env=spans.environment(setting, ETCD),
        ports=(Port(name=scheme, port=inside, host_port=own.port),),
        mounts=(
            setting.mount(setting.paths.pki),
            setting.mount(setting.paths.etcd_data, read_only=False),
            setting.mount(setting.paths.sockets, read_only=False),
        ),
        ready=(page(setting, "/health"),),
    )


def target(setting: Setting) -> EtcdTarget:
    """Return how this host reaches etcd: by its socket, or by its port with a certificate."""
    if setting.site.socket(setting.paths.etcd_socket):
        return EtcdTarget(address=f"unix:{setting.paths.etcd_socket}")
    address = setting.address(ETCD)
    if not setting.options.of(EtcdOptions).tls:
        return EtcdTarget(address=address)
    pki, client = setting.paths.pki, cluster_identities.ETCD_CLIENT
    return EtcdTarget(
        address=address,
        ca=pki / "ca.crt",
        cert=pki / f"{client}.crt",
        key=pki / f"{client}.key",
    )


def page(setting: Setting, path: str) -> HttpProbe:
    """Return how this host gets a page of etcd's."""
    if setting.site.socket(setting.paths.etcd_socket):
        return HttpProbe(url=f"http://localhost{path}", socket=setting.paths.etcd_socket)
    found = target(setting)
    url = f"{_tcp(setting, dialler=None)}{path}"
    return HttpProbe(url=url, ca=found.ca, cert=found.cert, key=found.key)


def endpoint(setting: Setting) -> str:
    """Return the URL at which the API server dials etcd."""
    socket = setting.site.socket(setting.paths.etcd_socket)
    if socket:
        return f"unix://{socket}"
    return _tcp(setting, dialler=KUBE_APISERVER)


def _tcp(setting: Setting, *, dialler: ComponentName | None) -> str:
    scheme = "https" if setting.options.of(EtcdOptions).tls else "http"
    return f"{scheme}://{setting.address(ETCD, dialler=dialler)}"


def version(options: ClusterOptions) -> str:
    """Return the version that the options ask for, else the one for the Kubernetes version."""
    given = options.of(EtcdOptions).version
    return etcd_release(given or etcd_version(kube_version(options.kube_version)))


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    names = (ETCD, *cluster_identities.here(options))
    return (
        Identity(name=ETCD, common_name="etcd", server=True, server_names=names),
        # The cluster's authority signs certificates of users, too: etcd accepts those with its name.
        Identity(
            name=cluster_identities.ETCD_CLIENT, common_name="etcd-client", server_names=(ETCD,)
        ),
    )


def _metrics(setting: Setting, dialler: ComponentName | None) -> MetricsPage | None:
    """Return the page for those who may not write: a certificate that etcd accepts may do anything."""
    if not setting.options.of(EtcdOptions).tls:
        return MetricsPage(address=setting.address(ETCD, dialler=dialler), client="")
    return relayed_page(ETCD, setting, dialler) if has_kubelet(setting) else None


DEFINITION = Definition(
    options=EtcdOptions,
    build=etcd,
    identities=_identities,
    version=version,
    metrics=_metrics,
    is_required=True,
)
