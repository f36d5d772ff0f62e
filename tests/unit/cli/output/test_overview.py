from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from kwokctl.cli.output.overview import emit_overview
from kwokctl.clusters.overview.figures import (
    ControllerReport,
    Nodes,
    Overview,
    Pods,
    Problem,
    Store,
)
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.host.usage import Usage
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName

SEEN = Overview(
    name=ClusterName("big"),
    status=RunStatus.READY,
    kube_version="v1.36.3",
    runtime="binary",
    components=(
        ComponentStatus(name=ETCD, status=RunStatus.READY, version="3.6.16", ports=()),
        ComponentStatus(name=KUBE_APISERVER, status=RunStatus.STOPPED, version="", ports=()),
    ),
    usage={ETCD: Usage(cpu=0.517, memory=80 << 20)},
    writes="straight to etcd (fast; see --data-path)",
    heartbeat="Leases of 40 s",
    nodes=Nodes(by_status={"Ready": 9_998, "NotReady": 2}),
    pods=Pods(by_status={"Running": 99_000, "Pending": 1_000}),
    etcd=Store(size=300 << 20, in_use=200 << 20, quota=2 << 30),
    controller=ControllerReport(stages=("a", "b", "c", "d", "e"), watch_delay=0.012),
    problems=(Problem(what="2 nodes are not Ready", remedy="kwokctl stage explain node/x"),),
)


def test_a_cluster_is_shown_on_one_screen(capfd: pytest.CaptureFixture[str]) -> None:
    emit_overview(SEEN)
    assert capfd.readouterr().out == snapshot("""\
big: Ready, Kubernetes v1.36.3, runtime binary

COMPONENT        STATUS    VERSION   CPU    MEMORY
etcd             Ready     3.6.16    0.52   80Mi
kube-apiserver   Stopped   -         -      -

nodes       9,998 of 10,000 Ready
pods        99,000 Running, 1,000 Pending
etcd        300Mi, 200Mi in use; 15% of its quota of 2Gi
writes      straight to etcd (fast; see --data-path)
heartbeat   Leases of 40 s
Stages      5: a, b, c, and 2 more
watch       0.01 s behind what is written

✗ 2 nodes are not Ready
  kwokctl stage explain node/x
""")


@pytest.mark.parametrize(("rows", "is_whole"), [(17, True), (16, False), (0, True)])
def test_on_a_small_screen_components_that_are_ready_are_only_counted(
    capfd: pytest.CaptureFixture[str], rows: int, is_whole: bool
) -> None:
    emit_overview(SEEN, rows)
    lines = capfd.readouterr().out.splitlines()

    assert ("others      1 Ready" in lines) is not is_whole
    assert any(line.startswith("etcd  ") and "80Mi" in line for line in lines) is is_whole
    assert any(line.startswith("kube-apiserver   Stopped") for line in lines)
    assert lines[-1] == "  kwokctl stage explain node/x"


def test_what_is_not_known_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    emit_overview(replace(SEEN, nodes=None, pods=None, etcd=None, controller=None, problems=()))
    assert capfd.readouterr().out == snapshot("""\
big: Ready, Kubernetes v1.36.3, runtime binary

COMPONENT        STATUS    VERSION   CPU    MEMORY
etcd             Ready     3.6.16    0.52   80Mi
kube-apiserver   Stopped   -         -      -

nodes       unknown
pods        unknown
etcd        unknown
writes      straight to etcd (fast; see --data-path)
heartbeat   Leases of 40 s
Stages      unknown
""")
