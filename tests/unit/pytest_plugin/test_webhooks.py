"""Webhooks lead to a server on this machine, whose certificate the API server can verify."""

import ssl
from base64 import b64decode
from contextlib import suppress
from pathlib import Path

from kwokctl.expr import yaml
from kwokctl.pytest_plugin.webhooks import WebhookServer, localized, webhook_server

HOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "checks"},
    "webhooks": [
        {"name": "a", "clientConfig": {"service": {"name": "s", "path": "/validate"}}},
        {"name": "b", "clientConfig": {"url": "https://example.com/x"}},
    ],
}
KIND = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {"conversion": {"strategy": "None"}},
}


def test_a_webhook_of_a_service_is_asked_on_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "hook.yaml"
    file.write_text(yaml.dump(HOOK))
    server = webhook_server(tmp_path)

    [found] = localized([file], lambda: server)

    first, second = (each["clientConfig"] for each in found["webhooks"])
    assert first["url"] == f"https://127.0.0.1:{server.port}/validate"
    assert b64decode(first["caBundle"]) == server.ca
    assert second == {"url": "https://example.com/x"}


def test_so_is_the_webhook_that_converts_the_versions_of_a_kind(tmp_path: Path) -> None:
    file = tmp_path / "kind.yaml"
    service = {"name": "s", "namespace": "n", "path": "/convert"}
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}}
    file.write_text(yaml.dump(KIND | {"spec": {"conversion": conversion}}))
    server = webhook_server(tmp_path)

    [found] = localized([file], lambda: server)

    config = found["spec"]["conversion"]["webhook"]["clientConfig"]
    assert config["url"] == f"https://127.0.0.1:{server.port}/convert"


def test_objects_without_webhooks_need_no_server(tmp_path: Path) -> None:
    file = tmp_path / "kind.yaml"
    file.write_text(yaml.dump(KIND))

    def no_server() -> WebhookServer:
        raise AssertionError

    assert localized([file], no_server) == [KIND]


def test_the_certificate_is_that_of_the_server(tmp_path: Path) -> None:
    server = webhook_server(tmp_path)
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(server.folder / "tls.crt", server.folder / "tls.key")
    outside = ssl.create_default_context(cadata=server.ca.decode())
    ends = [ssl.MemoryBIO() for _ in range(4)]
    serving = inside.wrap_bio(ends[0], ends[1], server_side=True)
    asking = outside.wrap_bio(ends[2], ends[3], server_hostname=server.host)

    for _ in range(4):
        for end in (asking, serving):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
            ends[0].write(ends[3].read())
            ends[2].write(ends[1].read())

    assert asking.getpeercert()
