"""Ways into a cluster for people and programs: kubeconfigs that can be carried elsewhere."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from kwokctl.clusters.home import Home, context_name
from kwokctl.clusters.saved import load
from kwokctl.components import identities
from kwokctl.host.pki import sign_client
from kwokctl.kube import kubeconfig
from kwokctl.model import ClusterName


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

    A user or group other than the administrator's gets a certificate of its own.
    """
    saved = load(home.paths(name), name)
    pki = home.paths(name).pki
    if (user, tuple(groups)) == (identities.ADMIN_USER, (identities.ADMIN_GROUP,)):
        cert = (pki / f"{identities.ADMIN}.crt").read_bytes()
        key = (pki / f"{identities.ADMIN}.key").read_bytes()
    else:
        cert, key = sign_client(pki, user, groups)
    port = urlsplit(f"//{host}").port
    server = f"https://{host}" if port else f"https://{host}:{saved.options.kube_apiserver_port}"
    return kubeconfig.embedded(
        context_name(name),
        server,
        # A CA beside the insecure switch is refused by clients.
        ca=None if insecure_skip_tls_verify else (pki / "ca.crt").read_bytes(),
        cert=cert,
        key=key,
    )
