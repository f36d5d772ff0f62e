"""The sets of objects that a new cluster begins with, as its options name them."""

from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.config.options import ClusterOptions


def first_sets(options: ClusterOptions) -> list[ScaleRequest]:
    """Return the requests, nodes first; UsageError for numbers that no cluster could hold."""
    wanted = {"node": options.objects.nodes, "pod": options.objects.pods}
    return [
        ScaleRequest(kind=kind, replicas=replicas, may_shrink=False)
        for kind, replicas in wanted.items()
        if replicas
    ]
