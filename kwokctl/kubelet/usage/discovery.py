"""The addresses of the fleet's metrics, in the form of Prometheus' HTTP service discovery.

https://prometheus.io/docs/prometheus/latest/http_sd/
"""

from collections.abc import Iterable, Iterator

import msgspec

from kwokctl.json_value import Json
from kwokctl.kubelet.usage.metrics.reader import MetricDocument


def discovery(
    metrics: Iterable[MetricDocument], nodes: Iterable[str], *, host: str, scheme: str
) -> bytes:
    """Return a target for each Metric, or for each node if its path names one."""
    names = list(nodes)
    return msgspec.json.encode(
        [
            {
                "targets": [host],
                "labels": {
                    "metrics_name": metric.name,
                    "__scheme__": scheme,
                    "__metrics_path__": path,
                    **labels,
                },
            }
            for metric in metrics
            for path, labels in _paths(metric, names)
        ]
    )


def _paths(metric: MetricDocument, nodes: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    if metric.is_of_any_node:
        yield from ((metric.path_of(node), {"node": node}) for node in nodes)
    else:
        yield metric.spec.path, {}
