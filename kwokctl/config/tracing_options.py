"""The options that say where spans of requests go, and of how many requests there are some."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from kwokctl.config.checks import InvalidText, host_name
from kwokctl.config.declaring import option

TRACING = "Tracing"
ALL = 1_000_000
"""The rate at which every request is sampled."""
_WRONG = InvalidText(
    "not HOST:PORT",
    "for example: 127.0.0.1:4317, where the collector takes OTLP over gRPC without TLS",
)


def collector_address(word: str) -> InvalidText | None:
    """Accept the host and the port of a collector: etcd and the API server take no URL."""
    try:
        host, port = host_and_port(word)
    except ValueError:
        return _WRONG
    return None if host_name(host) is None and port else _WRONG


def host_and_port(word: str) -> tuple[str, int]:
    """Split an address; ValueError for an invalid one."""
    parts = urlsplit(f"//{word}")
    if parts.netloc != word or "@" in word:
        raise ValueError(word)
    return parts.hostname or "", parts.port or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingOptions:
    """Options for the spans of requests that the API server and etcd send."""

    endpoint: str = option(
        "",
        "Collector for spans of requests from the API server and etcd (OTLP over gRPC, without TLS); a "
        "loopback address is this machine's in every runtime",
        group=TRACING,
        metavar="HOST:PORT",
        name="tracing_endpoint",
        check=collector_address,
    )
    rate: int = option(
        ALL,
        "Sampled requests in a million; 0 for only those whose client sends the header "
        "'traceparent', which are always sampled",
        group=TRACING,
        metavar="N",
        name="tracing_sampling_rate_per_million",
        within=(0, ALL),
    )
