"""What `status` shows of a cluster; processes of tests read it without loading pytest."""

from kwokctl.clusters.overview.figures import (
    ControllerReport,
    Nodes,
    Overview,
    Pods,
    Problem,
    Store,
)
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.host.processes.process_usage import Usage
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName
from kwokctl.replacing import replace

READY = ComponentStatus(name=ETCD, status=RunStatus.READY, version="3.6.16", ports=())
STOPPED = ComponentStatus(name=KUBE_APISERVER, status=RunStatus.STOPPED, version="", ports=())
SEEN = Overview(
    name=ClusterName("big"),
    status=RunStatus.READY,
    kube_version="v1.36.3",
    runtime="binary",
    components=(READY, STOPPED),
    usage={ETCD: Usage(cpu=0.517, memory=80 << 20)},
    writes="straight to etcd (fast; see --data-path)",
    heartbeat="Leases of 40 s",
    nodes=Nodes(by_status={"Ready": 9_998, "NotReady": 2}),
    pods=Pods(by_status={"Running": 99_000, "Pending": 1_000}),
    etcd=Store(size=300 << 20, in_use=200 << 20, quota=2 << 30),
    controller=ControllerReport(stages=("a", "b", "c", "d", "e"), watch_delay=0.012),
    problems=(Problem(what="2 nodes are not Ready", remedy="kwokctl stage explain node/x"),),
)
REMEDY = (
    "kwokctl --name big start cluster; its log: kwokctl --name big logs kube-controller-manager"
)
FULL = replace(
    SEEN,
    components=(*[READY] * 9, STOPPED),
    problems=(Problem(what="'kube-controller-manager' does not run", remedy=REMEDY),) * 9,
)
"""More than a small screen has room for."""
