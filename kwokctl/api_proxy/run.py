"""Runs the proxy as a process of its own, until a signal ends it."""

import argparse
import asyncio
import sys
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from random import Random

from kwokctl import __version__
from kwokctl.api_proxy.api_fault import ApiFault
from kwokctl.api_proxy.client_identity import Tokens
from kwokctl.api_proxy.flags import parser
from kwokctl.api_proxy.open_api_faults import OpenApiFaults
from kwokctl.api_proxy.open_watches import OpenWatches
from kwokctl.api_proxy.proxy_server import ApiServer, ProxyServer
from kwokctl.embedded.component_process import (
    give_back_regularly,
    log,
    run_process,
    set_verbosity,
)
from kwokctl.embedded.http.listening import listening_sockets, server_tls
from kwokctl.errors import ConfigError
from kwokctl.host.ports import joined
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.dial import ServerAddress, tls_context
from kwokctl.kube.transport.pool import Pool

_CONNECTIONS = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, and return the exit code."""

    def begin() -> Coroutine[object, object, None]:
        given = parser().parse_args(sys.argv[1:] if argv is None else argv)
        set_verbosity(given.v)
        return _serve(given)

    return run_process(begin)


async def _serve(given: argparse.Namespace) -> None:
    host, port = given.listen_address
    tls = server_tls(given.tls_cert_file, given.tls_private_key_file, given.ca_file)
    server, tokens = _api_server(given), Tokens.of(given.token_auth_file)
    watches = OpenWatches()
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    agent = f"kwok-api-proxy/{__version__}"
    access = load_access(given.kubeconfig)
    async with Pool(access, connections=_CONNECTIONS, user_agent=agent) as pool:

        def cut(fault: ApiFault) -> int:
            return watches.cut(fault.matches)

        faults = OpenApiFaults(Client(pool), cut, wall, Random())
        proxy = ProxyServer(server, tokens, faults.open.values, watches)
        listening = listening_sockets([host], port)
        log.info("passing requests to %s:%d on to the API server", host, port)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(faults.run())
            tasks.create_task(proxy.run(listening, tls))
            tasks.create_task(give_back_regularly())


def _api_server(given: argparse.Namespace) -> ApiServer:
    host, port = given.server_address
    ca = _read(given.ca_file)
    return ApiServer(
        ServerAddress.of(f"https://{joined(host, port)}", None, None),
        as_front_proxy=tls_context(
            ca=ca,
            cert=_read(given.front_proxy_cert_file),
            key=_read(given.front_proxy_key_file),
        ),
        as_nobody=tls_context(ca=ca, cert=None, key=None),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise ConfigError(f"'{path}' cannot be read: {e.strerror}") from e
