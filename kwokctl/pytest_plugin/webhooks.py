"""Lets webhooks lead to a server under test on this machine, whose certificate is made here."""

import socket
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.json_value import Json

_HOST = "127.0.0.1"


class WebhookServer(msgspec.Struct, frozen=True, kw_only=True):
    """The address at which the operator under test serves its webhooks, and the files for that."""

    host: str
    port: int
    folder: Path
    """With `tls.crt` and `tls.key`, as operators read them."""
    ca: bytes
    """PEM: what the API server verifies the certificate with."""

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"https://{self.host}:{self.port}"


def webhook_server(folder: Path) -> WebhookServer:
    """Choose a free port, and make a certificate for it."""
    from kwokctl.host.certificates.pair_files import cert_pem, write_pair
    from kwokctl.host.certificates.signing import make_authority, sign
    from kwokctl.model import Identity

    authority = make_authority("kwok-webhooks")
    names = (_HOST, "localhost")
    identity = Identity(
        name="tls", common_name="webhooks", server=True, client=False, server_names=names
    )
    write_pair(folder, identity.name, *sign(authority, identity))
    with socket.create_server((_HOST, 0)) as free:
        port: int = free.getsockname()[1]
    return WebhookServer(host=_HOST, port=port, folder=folder, ca=cert_pem(authority.cert))


def localized(paths: Sequence[Path], server: Callable[[], WebhookServer]) -> list[dict[str, Json]]:
    """Return the objects of files; webhooks that name a Service lead to a `server` instead.

    Those are the webhooks of admission, and of the conversion between versions of a kind.
    """
    from kwokctl.clusters.objects.manifests import objects_of

    objects = objects_of(list(paths))
    for each in (webhook for obj in objects for webhook in _webhooks(obj)):
        config = each.get("clientConfig") or {}
        if service := config.get("service"):
            each["clientConfig"] = _on_this_machine(service, server())
    return objects


def _webhooks(obj: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    yield from obj.get("webhooks") or ()
    if obj["kind"] == "CustomResourceDefinition":
        conversion = (obj.get("spec") or {}).get("conversion") or {}
        yield conversion.get("webhook") or {}


def _on_this_machine(service: Mapping[str, Json], server: WebhookServer) -> Json:
    path = str(service.get("path") or "/")
    return {"url": f"{server.url}{path}", "caBundle": b64encode(server.ca).decode()}
