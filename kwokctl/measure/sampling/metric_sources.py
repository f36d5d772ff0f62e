"""The components whose metrics can be read, and how."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kwokctl.components.host_pages import HostPage
from kwokctl.errors import KwokctlError
from kwokctl.kube.collections.metrics_text import MetricsReader, MetricValue, WantedMetric
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.sampling.sampled_metrics import STARTED
from kwokctl.model import KUBE_APISERVER, ComponentName

Processes = Mapping[ComponentName, Collection[int]]
PATIENCE = 10.0
"""Seconds for an answer."""
_CONNECTIONS = 2


class Components(msgspec.Struct, frozen=True, kw_only=True):
    """The components of a cluster of this kwokctl."""

    names: Sequence[ComponentName]
    pages: Mapping[ComponentName, HostPage]
    """The pages of their metrics."""
    processes: Callable[[], Awaitable[Processes]] | None
    """Finds the processes of each; None where they are not this host's."""
    remarks: Callable[[], Awaitable[Mapping[ComponentName, str]]]
    """Finds out why some have ended."""
    audit_log: Path | None
    """The requests that the API server has answered; None where it writes no such log."""


class MetricsRead(msgspec.Struct, frozen=True):
    """The metrics of a component at one time."""

    started: float
    """The time at which its process began, seconds since 1970; 0 if it does not say."""
    values: Mapping[str, MetricValue]


class MetricsSource(msgspec.Struct, frozen=True, kw_only=True):
    """A component whose metrics can be read."""

    name: ComponentName
    pool: Pool
    path: str = "/metrics"

    async def read(self, wanted: Sequence[WantedMetric]) -> MetricsRead:
        """Read metrics; ApiError if they are refused or no answer comes, ValueError for what is no text of metrics."""
        reader = MetricsReader([WantedMetric(name=STARTED), *wanted])
        async with self.pool.stream(self.path, accept="text/plain", silence=PATIENCE) as stream:
            async for piece in stream:
                reader.feed(piece)
        values = reader.values()
        started = values.pop(STARTED, 0.0)
        return MetricsRead(started if isinstance(started, float) else 0.0, values)


Sources = dict[ComponentName, MetricsSource]


@asynccontextmanager
async def open_sources(
    components: Components | None, pool: Pool, missing: dict[str, str]
) -> AsyncIterator[Sources]:
    """Yield the sources of a cluster whose API server `pool` leads to; why others are not there goes into `missing`."""
    found: Sources = {KUBE_APISERVER: MetricsSource(name=KUBE_APISERVER, pool=pool)}
    async with AsyncExitStack() as stack:
        for name, page in components.pages.items() if components else ():
            try:
                opened = _pool(page)
            except (KwokctlError, OSError) as e:
                missing[f"metrics.{name}"] = f"the metrics of {name} cannot be read: {e}"
                continue
            path = urlsplit(page.page.url).path
            found[name] = MetricsSource(
                name=name, pool=await stack.enter_async_context(opened), path=path
            )
        yield found


def _pool(page: HostPage) -> Pool:
    probe = page.page
    ca, cert, key = (
        file.read_bytes() if file else None for file in (probe.ca, probe.cert, probe.key)
    )
    parts = urlsplit(probe.url)
    access = Access(
        server=f"{parts.scheme}://{parts.netloc}",
        ca=ca,
        cert=cert,
        key=key,
        token=page.token.read_text(encoding="ascii").strip() if page.token else None,
        insecure=page.is_unverified,
        tls_server_name=page.server_name or None,
    )
    return Pool(access, connections=_CONNECTIONS, timeout=2 * PATIENCE, socket=probe.socket)
