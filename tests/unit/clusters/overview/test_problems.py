import pytest

from kwokctl import __version__
from kwokctl.clusters.overview.figures import ControllerReport, Nodes, Overview, Pods, Store
from kwokctl.clusters.overview.problems import find_problems
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
    ComponentName,
)
from kwokctl.replacing import replace

GIB = 1 << 30


def component(name: ComponentName, status: RunStatus = RunStatus.READY) -> ComponentStatus:
    return ComponentStatus(name=name, status=status, version="", ports=())


WELL = Overview(
    name=ClusterName("big"),
    status=RunStatus.READY,
    kube_version="v1.36.3",
    runtime="binary",
    components=(component(KUBE_SCHEDULER), component(KWOK_CONTROLLER)),
    usage={},
    writes="",
    heartbeat="",
    nodes=Nodes(by_status={"Ready": 3}),
    pods=Pods(by_status={"Running": 5, "Succeeded": 2}),
    etcd=Store(size=GIB, in_use=GIB, quota=8 * GIB),
    controller=ControllerReport(stages=("node-initialize",), watch_delay=0.01, version=__version__),
)
DEAD = component(KUBE_SCHEDULER, RunStatus.STOPPED)
LATE = component(KUBE_SCHEDULER, RunStatus.NOT_READY)


def test_nothing_is_wrong_with_a_cluster_that_is_well() -> None:
    assert [*find_problems(WELL)] == []


@pytest.mark.parametrize(
    ("seen", "what", "remedy"),
    [
        (
            replace(WELL, status=RunStatus.STOPPED),
            "the cluster is stopped",
            "kwokctl --name big start cluster",
        ),
        (
            replace(WELL, components=(DEAD,)),
            "'kube-scheduler' does not run",
            "kwokctl --name big start cluster; its log: kwokctl --name big logs kube-scheduler",
        ),
        (
            replace(WELL, components=(LATE,)),
            "'kube-scheduler' runs, but is not ready",
            "kwokctl --name big logs kube-scheduler --tail 20",
        ),
        (
            replace(WELL, etcd=Store(size=7 * GIB, in_use=7 * GIB, quota=8 * GIB)),
            "etcd's file of 7Gi is 88% of its quota",
            "delete objects, then kwokctl --name big doctor --fix",
        ),
        (
            replace(WELL, etcd=Store(size=7 * GIB, in_use=GIB, quota=8 * GIB)),
            "etcd's file of 7Gi is 88% of its quota, though only 1Gi are in use",
            "kwokctl --name big doctor --fix",
        ),
        (
            replace(WELL, controller=None),
            "the controller does not report its Stages",
            "kwokctl --name big logs kwok-controller --tail 20",
        ),
        (
            replace(WELL, controller=ControllerReport(stages=(), watch_delay=7.25)),
            "the controller sees changes 7.2 s late",
            "the machine is busy: wait, or scale in smaller steps",
        ),
        (
            replace(WELL, controller=ControllerReport(stages=(), watch_delay=0.1, version="0.0.9")),
            f"the controller is still that of kwokctl 0.0.9, and this is {__version__}",
            "kwokctl --name big stop cluster, then kwokctl --name big start cluster",
        ),
        (
            replace(WELL, nodes=Nodes(by_status={"Ready": 3, "NotReady": 1}, not_ready="node-2")),
            "1 node is not Ready, such as 'node-2'",
            "kwokctl --name big stage explain node/node-2",
        ),
        (
            replace(WELL, pods=Pods(by_status={"Pending": 1200})),
            "1,200 pods are Pending",
            "kwokctl --name big kubectl get events --field-selector reason=FailedScheduling",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_remedy(seen: Overview, what: str, remedy: str) -> None:
    assert [(each.what, each.remedy) for each in find_problems(seen)] == [(what, remedy)]


def test_figures_that_are_unknown_are_no_problem_of_their_own() -> None:
    dead = component(KWOK_CONTROLLER, RunStatus.STOPPED)
    seen = replace(WELL, components=(dead,), nodes=None, pods=None, etcd=None, controller=None)
    assert [each.what for each in find_problems(seen)] == ["'kwok-controller' does not run"]


def test_a_controller_is_late_because_the_api_server_shows_nothing() -> None:
    paused = component(KUBE_APISERVER, RunStatus.NOT_READY)
    late = ControllerReport(stages=(), watch_delay=7.25)
    seen = replace(WELL, components=(*WELL.components, paused), controller=late)
    assert [each.remedy for each in find_problems(seen)][1:] == [
        "'kube-apiserver' is not ready: fix that first"
    ]
