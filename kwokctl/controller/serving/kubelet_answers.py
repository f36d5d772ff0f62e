"""Answers the API server as fake kubelets over TLS: logs and commands are refused with the reason.

The API server speaks TLS to kubelets, on the port on which the controller serves plain HTTP. What is
asked for is refused, so that no right is needed. The paths are those of the kubelet
(https://github.com/kubernetes/kubernetes, pkg/kubelet/server).
"""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

from kwokctl.errors import ConfigError

CLIENT_HELLO = b"\x16"
"""The first byte of a TLS connection."""

_LONGEST = 16 * 1024
_PATIENCE = 10.0
_WHY = "since the containers of fake pods do not run"
_REFUSED = {
    "containerLogs": "logs are not supported yet",
    "exec": "commands in containers are not supported yet",
    "run": "commands in containers are not supported yet",
    "attach": "attaching to containers is not supported yet",
    "portForward": "port forwarding is not supported yet",
}


class KubeletAnswers:
    """Refuses requests to a kubelet, each on a separate connection."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Show a certificate; ConfigError if it or its key cannot be read."""
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            self._context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as e:
            raise ConfigError(
                f"the certificate '{certificate}' and its key '{key}' cannot be read: {e}",
                hint="correct --tls-cert-file and --tls-private-key-file",
            ) from e

    async def answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, begun: bytes
    ) -> None:
        """Answer the first request of a connection of which `begun` has been read."""
        connection = _Connection(self._context, reader, writer, begun)
        async with asyncio.timeout(_PATIENCE):
            with suppress(ssl.SSLError, asyncio.IncompleteReadError):
                await connection.shake_hands()
                head = await connection.head()
                await connection.write(response(head))


def response(head: bytes) -> bytes:
    """Return the answer to a request."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    first = words[1].lstrip("/").partition("/")[0] if len(words) > 1 else ""
    refused = _REFUSED.get(first)
    # The text of this status alone is shown by the API server's clients as it is.
    status = "404 Not Found" if refused is None else "400 Bad Request"
    # Clients that read the text as YAML would take one with a colon for a mapping, and show nothing.
    body = f"{refused}, {_WHY}" if refused else "not found"
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    ).encode("ascii")


class _Connection:
    """TLS over streams that have been read from already, which asyncio cannot start it on."""

    def __init__(
        self,
        context: ssl.SSLContext,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        begun: bytes,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._incoming.write(begun)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._more()
            else:
                return

    async def head(self) -> bytes:
        """Return the head of a request, or as much of it as is read at most."""
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _LONGEST:
            try:
                data = self._tls.read(_LONGEST)
            except ssl.SSLWantReadError:
                await self._more()
                continue
            if not data:  # the client has closed its side of TLS
                raise asyncio.IncompleteReadError(head, None)
            head += data
        return head

    async def write(self, data: bytes) -> None:
        self._tls.write(data)
        with suppress(ssl.SSLWantReadError):
            self._tls.unwrap()
        await self._flush()

    async def _more(self) -> None:
        await self._flush()
        data = await self._reader.read(_LONGEST)
        if not data:
            raise asyncio.IncompleteReadError(data, None)
        self._incoming.write(data)

    async def _flush(self) -> None:
        self._writer.write(self._outgoing.read())
        await self._writer.drain()
