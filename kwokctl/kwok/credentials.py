"""The certificate of the command `kwok`'s server, and the authority of its clients."""

import logging
from pathlib import Path
from random import Random

import msgspec

from kwokctl.errors import ApiError
from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.host.files import write_atomic
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import CONFIG_MAPS
from kwokctl.kube.transport.pool import Pool
from kwokctl.kubelet.settings import TlsFiles
from kwokctl.model import Identity
from kwokctl.retry import may_pass, until_answered

log = logging.getLogger(__name__)

_NAME = "kwok"
_NAMESPACE, _AUTHENTICATION = "kube-system", "extension-apiserver-authentication"
"""The ConfigMap in which a cluster publishes the authority of its users' certificates
(https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/)."""


class _Authentication(msgspec.Struct):
    data: dict[str, str] = {}


def own_certificate(folder: Path, client_ca: Path | None) -> TlsFiles:
    """Make a certificate for the server below `folder`: the API server verifies none of a kubelet."""
    folder = folder / "pki"
    own = Identity(name=_NAME, common_name=_NAME, server=True, client=False, server_names=(_NAME,))
    ensure_pki(folder, [own])
    return TlsFiles(
        certificate=folder / f"{_NAME}.crt", key=folder / f"{_NAME}.key", client_ca=client_ca
    )


async def cluster_authority(access: Access, folder: Path, random: Random) -> Path | None:
    """Write the authority of the cluster's users to a file; None if it may not be read.

    Waits until the cluster answers.
    """
    async with Pool(access, connections=1) as pool:
        client = Client(pool)
        found = await until_answered(lambda: _authority(client), random)
    if not found:
        return None
    file = folder / "clients.crt"
    write_atomic(file, found)
    return file


async def _authority(client: Client) -> str:
    path = CONFIG_MAPS.path(_NAMESPACE, _AUTHENTICATION)
    try:
        answer = await client.call("GET", path)
    except ApiError as e:
        if may_pass(e):
            raise
        log.warning(
            "clients cannot show certificates, because the cluster's authority is unknown: %s", e
        )
        return ""
    return msgspec.json.decode(answer, type=_Authentication).data.get("client-ca-file", "")
