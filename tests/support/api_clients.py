"""Clients of an API server that choose what they say of themselves: user agent, credential, any header."""

import json
import ssl
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.dial import tls_context

PATIENCE = 180.0
NODES = "/api/v1/nodes"
_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        """What the body says."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class ApiClient:
    """A client with the server and the credential of a kubeconfig, or without the credential."""

    kubeconfig: Path
    agent: str = "test/1"
    is_known: bool = True
    """Whether it shows the credential."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def connect(self, timeout: float = PATIENCE) -> HTTPSConnection:
        """Return a connection that is dialled with its first request."""
        access = load_access(self.kubeconfig)
        server = urlsplit(access.server)
        tls: ssl.SSLContext = tls_context(
            ca=access.ca,
            cert=access.cert if self.is_known else None,
            key=access.key if self.is_known else None,
        )
        assert server.hostname is not None
        return HTTPSConnection(server.hostname, server.port, context=tls, timeout=timeout)

    def ask(
        self, path: str = NODES, method: str = "GET", body: object = None, timeout: float = PATIENCE
    ) -> Reply:
        """Send one request; TimeoutError if nothing is answered in time."""
        access = load_access(self.kubeconfig)
        words = {"User-Agent": self.agent, "Content-Type": "application/json", **self.headers}
        if access.authorization and self.is_known:
            words["Authorization"] = access.authorization
        with closing(self.connect(timeout)) as connection:
            began = time.monotonic()
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, body=sent, headers=words)
            answer = connection.getresponse()
            read = answer.read()
            seconds = time.monotonic() - began
        return Reply(answer.status, dict(answer.getheaders()), read, seconds)

    def whoami(self) -> tuple[int, str, list[str]]:
        """Return the status, and the user and groups that the API server takes it for."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        reply = self.ask(_REVIEWS, "POST", body)
        found = reply.json.get("status")
        user = found.get("userInfo", {}) if isinstance(found, dict) else {}
        return reply.status, user.get("username", ""), user.get("groups", [])
