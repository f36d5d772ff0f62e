"""The checks of a cluster, the causes before what follows from them."""

from collections.abc import Sequence

from kwokctl.clusters.doctor.check import Check
from kwokctl.clusters.doctor.cluster import (
    clock_of_api,
    components,
    controller,
    deletions,
    etcd,
    metrics,
    nodes,
    pods,
    taken_ports,
)
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster

CHECKS: Sequence[Check[CheckedCluster]] = tuple(
    module.CHECK
    for module in (
        components,
        taken_ports,
        clock_of_api,
        etcd,
        controller,
        nodes,
        metrics,
        pods,
        deletions,
    )
)
