"""A collector of spans: the gRPC service of OTLP, as far as a test looks at spans.

The messages are those of https://github.com/open-telemetry/opentelemetry-proto, version 1.
"""

import ssl
import threading
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import grpc

from kwokctl.etcd.protobuf import LENGTH, fields, mark
from tests.support.installed import Installed, until

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


@dataclass(frozen=True, slots=True)
class Span:
    """What distinguishes a span from others."""

    service: str
    cluster: str
    trace: str
    name: str


class Collector:
    """The spans that have come."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._lock = threading.Lock()

    def spans(self) -> list[Span]:
        with self._lock:
            return list(self._spans)

    def export(self, request: bytes, _: grpc.ServicerContext) -> bytes:
        """Take one request; an empty answer says that all of it was taken."""
        with self._lock:
            self._spans.extend(_spans(request))
        return b""


@contextmanager
def collecting(address: str) -> Iterator[Collector]:
    """Take spans at an address of this machine, `HOST:PORT`."""
    collector = Collector()
    handler = grpc.unary_unary_rpc_method_handler(collector.export)
    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(_SERVICE, {"Export": handler})]
    )
    assert server.add_insecure_port(address)
    server.start()
    try:
        yield collector
    finally:
        server.stop(grace=None).wait()


def traced_by(
    services: Iterable[str], cluster: Installed, collector: Collector, trace: str
) -> bool:
    """Ask the API server, and return whether spans of all services have come.

    To be repeated while some are missing: those of the time before there was a collector are lost.
    """

    def are_here() -> bool:
        return {*services} <= {span.service for span in collector.spans()}

    ask_traced(cluster, "/api/v1/namespaces/default", trace)
    with suppress(AssertionError):
        until("all have sent spans", are_here, patience=10.0)
    return are_here()


def ask_traced(cluster: Installed, path: str, trace: str) -> None:
    """Ask the API server as a client that wants spans of this request."""
    port = cluster.components()["kube-apiserver"]["ports"][0]["hostPort"]
    pki = cluster.workdir / "clusters" / cluster.name / "pki"
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    wanted = {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    request = urllib.request.Request(f"https://localhost:{port}{path}", headers=wanted)
    with urllib.request.urlopen(request, context=context) as answer:
        answer.read()


def _parts(message: bytes, number: int) -> Iterator[bytes]:
    """Yield what a field that has a length holds, as often as it is there."""
    for key, start, end in fields(message, 0, len(message)):
        if key == mark(number, LENGTH):
            yield message[start:end]


def _part(message: bytes, number: int) -> bytes:
    return next(_parts(message, number), b"")


def _spans(request: bytes) -> Iterator[Span]:
    for sent in _parts(request, 1):
        attributes = dict(_attribute(each) for each in _parts(_part(sent, 1), 1))
        for scope in _parts(sent, 2):
            for span in _parts(scope, 2):
                yield Span(
                    service=attributes.get("service.name", ""),
                    cluster=attributes.get("k8s.cluster.name", ""),
                    trace=_part(span, 1).hex(),
                    name=_part(span, 5).decode(),
                )


def _attribute(pair: bytes) -> tuple[str, str]:
    return _part(pair, 1).decode(), _part(_part(pair, 2), 1).decode("utf-8", "replace")
