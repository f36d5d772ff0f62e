"""`python -m kwokctl.embedded.insecure_proxy`: a port of the API server that asks for no credentials.

Each connection is passed on over TLS with the administrator's certificate, byte by byte: the API
server takes credentials from the connection, so that watches, and what is upgraded from HTTP, work.
"""

import argparse
import asyncio
import signal
import ssl
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kwokctl import __version__
from kwokctl.embedded.component_process import failed, log, log_to_stderr, set_verbosity
from kwokctl.embedded.flag_parser import FlagParser, log_level, parse_address
from kwokctl.errors import KwokctlError
from kwokctl.tasks import new_event_loop

_PIECE = 65536


def parser() -> argparse.ArgumentParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = FlagParser(prog="kube-apiserver-insecure-proxy", allow_abbrev=False)
    add = made.add_argument
    add("--listen-address", required=True, type=parse_address, help="host:port to listen on")
    add("--server-address", required=True, type=parse_address, help="host:port of the API server")
    add("--ca-file", required=True, type=Path, help="authority of the API server's certificate")
    add("--cert-file", required=True, type=Path, help="client certificate for the API server")
    add("--key-file", required=True, type=Path, help="key of that certificate")
    add("-v", "--v", type=log_level, default=0, help="log level: a number or a name")
    add("--version", action="version", version=f"insecure-proxy version {__version__}")
    return made


class Relay:
    """Passes connections on to one server."""

    def __init__(self, server: tuple[str, int], tls: ssl.SSLContext) -> None:
        self._server = server
        self._tls = tls

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on until either side ends it."""
        try:
            host, port = self._server
            there = await asyncio.open_connection(host, port, ssl=self._tls)
        except OSError as e:
            log.warning("the API server does not answer: %s", e)
            writer.close()
            return
        try:
            await self._between((reader, writer), there)
        finally:
            there[1].close()
            writer.close()

    async def _between(
        self,
        here: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        there: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass on both ways; TLS has no half-closed connections, so the first end is that of both."""
        ways = [
            asyncio.ensure_future(_pass_on(here[0], there[1])),
            asyncio.ensure_future(_pass_on(there[0], here[1])),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


def client_tls(ca: Path, cert: Path, key: Path) -> ssl.SSLContext:
    """Return TLS that shows a certificate to a server of this authority."""
    tls = ssl.create_default_context(cafile=str(ca))
    tls.load_cert_chain(cert, key)
    return tls


async def run(given: argparse.Namespace) -> None:
    """Listen until SIGTERM or SIGINT."""
    tls = client_tls(given.ca_file, given.cert_file, given.key_file)
    host, port = given.listen_address
    relay = Relay(given.server_address, tls)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    server = await asyncio.start_server(relay.serve, host, port)
    log.info("everyone who reaches %s:%d is an administrator of the cluster", host, port)
    await ended.wait()
    server.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal ends it, and return the exit code."""
    log_to_stderr()
    try:
        given = parser().parse_args(sys.argv[1:] if argv is None else argv)
        set_verbosity(given.v)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(run(given))
    except KwokctlError as e:
        return failed(e)
    return 0


if __name__ == "__main__":
    sys.exit(main())
