"""Another user of this machine, who dials what listens here."""

import base64
import ctypes
import http.client
import json
import os
import socket
import ssl
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml

from tests.support.installed import Installed
from tests.support.listeners import Listener

NOBODY = 65534
_PATIENCE = 30.0
"""Seconds until a request counts as refused: a busy server, which would have answered, must not look closed."""
_PRETENCE = {"X-Remote-User": "kwok-admin", "X-Remote-Group": "system:masters"}
"""What a front proxy says of whom it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """A user with no rights to anything, who may show a credential that has none either."""

    token: str = ""
    certificate: Path | None = None
    """A file with a client certificate and its key, read before the rights to it are given up."""

    def answered(
        self, listeners: Sequence[Listener], requests: Sequence[str]
    ) -> list[tuple[Listener, str]]:
        """Return which requests were answered as the server means them to be.

        A request is a method, a path and perhaps a body. Each listener is dialled from its own
        network, as what runs beside it could.
        """
        found: list[tuple[Listener, str]] = []
        for listener in listeners:
            said = _as_nobody(listener.pid, partial(self._prepare, listener, requests))
            found += [(listener, request) for request in said]
        return found

    def _prepare(self, listener: Listener, requests: Sequence[str]) -> Callable[[], Any]:
        # Sockets read this codec from its file only when they dial: the child may not read it.
        "localhost".encode("idna")
        context = ssl._create_unverified_context()
        if self.certificate is not None:
            context.load_cert_chain(self.certificate)

        def dial() -> list[str]:
            # Servers of TLS answer 400 to what is none, or hang up.
            is_plain = self._ask(listener, "GET /", None) not in {0, 400}
            spoken = None if is_plain else context
            return [each for each in requests if 0 < self._ask(listener, each, spoken) < 400]

        return dial

    def _ask(self, listener: Listener, request: str, context: ssl.SSLContext | None) -> int:
        """Return the status of an answer to a request, 0 if there is none."""
        method, path, *body = request.split(" ", maxsplit=2)
        headers = dict(_PRETENCE)
        if body:
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection("localhost", timeout=_PATIENCE)
        with suppress(OSError, http.client.HTTPException):
            try:
                connection.sock = _dialled(listener, context)
                connection.request(method, path, body="".join(body), headers=headers)
                return connection.getresponse().status
            finally:
                connection.close()
        return 0


def certified(cluster: Installed, folder: Path, name: str) -> Stranger:
    """Return a user with a certificate that the cluster has signed for this name."""
    text = cluster.ok("get", "kubeconfig", "--user", name, "--group", "strangers")
    user = yaml.safe_load(text)["users"][0]["user"]
    pair = folder / "stranger.pem"
    parts = (user["client-certificate-data"], user["client-key-data"])
    pair.write_bytes(b"".join(map(base64.b64decode, parts)))
    return Stranger(certificate=pair)


def _dialled(listener: Listener, context: ssl.SSLContext | None) -> socket.socket:
    if listener.is_unix:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(_PATIENCE)
        made.connect(listener.at.replace("@", "\0", 1) if listener.is_abstract else listener.at)
    else:
        host, _, port = listener.at.rpartition(":")
        here = {"0.0.0.0": "127.0.0.1", "[::]": "127.0.0.1"}.get(host, host)
        made = socket.create_connection((here.strip("[]"), int(port)), _PATIENCE)
    return context.wrap_socket(made) if context else made


def _as_nobody(beside: int, prepare: Callable[[], Callable[[], Any]]) -> list[Any]:
    """Return what is found by a child in the network of a process, without any rights."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        # Nothing of this process may go on in the child, its exceptions included.
        try:
            dial = prepare()
            network = os.open(f"/proc/{beside}/ns/net", os.O_RDONLY)
            assert ctypes.CDLL(None).setns(network, 0) == 0
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(writer, json.dumps(dial()).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return cast("list[Any]", json.loads(said))
