"""Makes kubeconfigs that need no other file, for any user and host."""

import re
from collections.abc import Sequence

from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.saved import load
from kwokctl.components import cluster_identities
from kwokctl.config import checks
from kwokctl.errors import UsageError
from kwokctl.host.certificates.pki import sign_client
from kwokctl.host.ports import joined
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import KUBE_APISERVER, KWOK_API_PROXY, ClusterName

_LONGEST_NAME = 64
_HOST = re.compile(
    r"(?:\[(?P<bracketed>[0-9a-f:.]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"|(?P<bare>[0-9a-f:.]+)",
    re.ASCII | re.IGNORECASE,
)
"""A name or an address, with a port if need be; an IPv6 address before a port is in brackets."""


def portable_kubeconfig(
    home: Home,
    name: ClusterName,
    *,
    host: str,
    insecure_skip_tls_verify: bool,
    user: str,
    groups: Sequence[str],
) -> str:
    """Return a kubeconfig that needs no other file, for the given user, groups and host.

    A user or group other than the administrator's gets a separate certificate.
    """
    address, port = _host_and_port(host)
    _check_identity(user, groups)
    saved = load(home.paths(name), name)
    pki = home.paths(name).pki
    if (user, tuple(groups)) == (cluster_identities.ADMIN_USER, (cluster_identities.ADMIN_GROUP,)):
        cert = (pki / f"{cluster_identities.ADMIN}.crt").read_bytes()
        key = (pki / f"{cluster_identities.ADMIN}.key").read_bytes()
    else:
        cert, key = sign_client(pki, user, groups)
    front = KWOK_API_PROXY if KWOK_API_PROXY in saved.names else KUBE_APISERVER
    server = f"https://{joined(address, port or saved.options.component(front).port)}"
    return entries.embedded(
        context_name(name),
        server,
        # A CA beside the insecure switch is refused by clients.
        ca=None if insecure_skip_tls_verify else (pki / "ca.crt").read_bytes(),
        cert=cert,
        key=key,
    )


def _host_and_port(text: str) -> tuple[str, int]:
    """Read `HOST` or `HOST:PORT`; the port is 0 if there is none. UsageError for anything else."""
    found = _HOST.fullmatch(text)
    host = (found["bracketed"] or found["name"] or found["bare"]) if found else ""
    port = int(found["port"] or 0) if found else 0
    if checks.host_name(host) or port > checks.PORTS[1]:
        raise UsageError(
            f"'--host' is '{text}', neither a host nor a host with a port",
            hint="for example: cluster.example.com, 192.0.2.1:6443 or [2001:db8::1]:6443",
        )
    return host, port


def _check_identity(user: str, groups: Sequence[str]) -> None:
    """Raise UsageError for names that no certificate can hold (RFC 5280, appendix A.1)."""
    for flag, name in (("--user", user), *(("--group", group) for group in groups)):
        if checks.text(name) or len(name) > _LONGEST_NAME:
            raise UsageError(
                f"'{flag}' is '{name}', which cannot be a name in a certificate",
                hint=f"use 1 to {_LONGEST_NAME} printable characters",
            )
