"""The API server, as the operator asks it: with nothing but Python's own HTTP, and one connection a call."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

Object = Mapping[str, Any]


class Api:
    """Where the API server is, and as which user it is asked."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = urlsplit(cluster["server"])
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._tls.load_cert_chain(user["client-certificate"], user["client-key"])

    def call(self, method: str, path: str, body: Object | None = None) -> Any:
        """Return the answer; None if there is no such object."""
        with closing(self.connection()) as connection:
            text = json.dumps(body) if body else None
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        if response.status == http.client.NOT_FOUND:
            return None
        if response.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {answer['message']}")
        return answer

    def connection(self) -> http.client.HTTPSConnection:
        host, port = self._server.hostname or "", self._server.port
        return http.client.HTTPSConnection(host, port, context=self._tls)


class Watch:
    """A watch, which another thread may end."""

    def __init__(self, api: Api, path: str) -> None:
        self._connection = api.connection()
        self._connection.request("GET", path)
        self._response = self._connection.getresponse()

    def events(self) -> Iterator[Object]:
        """Yield events until the watch is ended here or by the API server."""
        with suppress(OSError, ValueError, http.client.HTTPException), self._response:
            while line := self._response.readline():
                yield json.loads(line)

    def end(self) -> None:
        with suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
