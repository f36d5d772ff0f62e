import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kwokctl.controller.serving.kubelet_answers import KubeletAnswers, response
from kwokctl.controller.serving.routes import Authorizer, routes
from kwokctl.controller.serving.server import Server
from kwokctl.errors import ConfigError
from tests.support.certificates import certificates
from tests.support.controller_answers import answers

WHY = "since the containers of fake pods do not run"


@asynccontextmanager
async def listening(kubelet: KubeletAnswers | None) -> AsyncIterator[int]:
    server = Server(routes(answers()), Authorizer(""), kubelet)
    await server.start("127.0.0.1", 0)
    try:
        yield server.port
    finally:
        server.close()


def kubelet(folder: Path) -> KubeletAnswers:
    pair = certificates().server
    certificate, key = folder / "kubelet.crt", folder / "kubelet.key"
    certificate.write_bytes(pair.cert)
    key.write_bytes(pair.key)
    return KubeletAnswers(certificate, key)


async def asked(port: int, context: ssl.SSLContext | None, path: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.decode()


def trusting() -> ssl.SSLContext:
    """Return a client that asks for no certificate, as the API server is to kubelets."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def test_one_port_serves_tls_as_a_kubelet_and_plain_http_as_a_controller(
    tmp_path: Path,
) -> None:
    async with listening(kubelet(tmp_path)) as port:
        logs = await asked(port, trusting(), "/containerLogs/default/web/nginx?follow=true")
        healthz = await asked(port, None, "/healthz")

    assert logs.startswith("HTTP/1.1 400 Bad Request\r\n")
    assert logs.endswith(f"\r\n\r\nlogs are not supported yet, {WHY}")
    assert healthz.endswith("\r\n\r\nok")


async def test_nothing_of_the_controller_is_served_over_tls(tmp_path: Path) -> None:
    async with listening(kubelet(tmp_path)) as port:
        answer = await asked(port, trusting(), "/metrics")

    assert answer.startswith("HTTP/1.1 404 Not Found\r\n")


async def test_without_a_certificate_a_tls_client_is_turned_away_at_once() -> None:
    async with listening(None) as port:
        with pytest.raises((ssl.SSLError, OSError)):
            await asked(port, trusting(), "/healthz")


@pytest.mark.parametrize("begin", [b"\x16", b"\x16\x03\x01garbage that is no handshake" * 9])
async def test_a_client_that_only_begins_like_tls_does_no_harm(
    tmp_path: Path, begin: bytes
) -> None:
    async with listening(kubelet(tmp_path)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(begin)
        writer.write_eof()
        await reader.read()
        writer.close()

        assert "ok" in await asked(port, None, "/healthz")


async def test_a_client_that_ends_tls_without_a_request_does_no_harm(tmp_path: Path) -> None:
    def visit(port: int) -> bytes:
        """Ask from a thread: what keeps the server's loop busy would keep the test's, too."""
        here = ("127.0.0.1", port)
        with (
            socket.create_connection(here, timeout=20) as plain,
            trusting().wrap_socket(plain) as tls,
            suppress(OSError),
        ):
            tls.unwrap()
        with socket.create_connection(here, timeout=20) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            return plain.recv(1024)

    async with listening(kubelet(tmp_path)) as port:
        assert (await asyncio.to_thread(visit, port)).endswith(b"ok")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/exec/default/web/nginx?command=ls", "commands in containers are not supported yet"),
        ("/run/default/web/nginx", "commands in containers are not supported yet"),
        ("/attach/default/web/nginx", "attaching to containers is not supported yet"),
        ("/portForward/default/web", "port forwarding is not supported yet"),
    ],
)
def test_what_is_refused_is_named(path: str, what: str) -> None:
    answer = response(f"POST {path} HTTP/1.1\r\n\r\n".encode())

    assert answer.endswith(f"\r\n\r\n{what}, {WHY}".encode())


def test_a_request_that_is_none_is_not_found() -> None:
    assert response(b"nonsense").startswith(b"HTTP/1.1 404")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.crt"):
        KubeletAnswers(tmp_path / "nowhere.crt", tmp_path / "nowhere.key")
