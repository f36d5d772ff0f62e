"""What a plan makes of a pod is what the function of its life makes of it, for a few pods at each of their moments."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import orjson
import pytest

from kwokctl.controller.lifecycle.life_plans import LifePlan, LifePlans, PodLook, life_plan
from kwokctl.controller.lifecycle.outcome import NodeOffer, PodMemory, PodOutcome
from kwokctl.controller.lifecycle.pod import sync
from kwokctl.controller.lifecycle.statuses import own_ips, status_patch
from kwokctl.controller.plans import Plans
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import value_of
from kwokctl.specialization.shape import ObjectForm, Shape
from kwokctl.specialization.source import Functions, MisfitError
from tests.support.etcd_of_pods import with_version

START = 1_767_268_800.0
VERSION = 7
PROBE = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1, "failureThreshold": 2}


class Moment(NamedTuple):
    """A pod, and what it is looked at with."""

    pod: Json
    now: float
    memory: PodMemory | None

    def at(self, now: float) -> "Moment":
        return self._replace(now=now)

    @property
    def look(self) -> PodLook:
        return PodLook(self.now, self.memory, FUNCTIONS)

    @property
    def levels(self) -> Mapping[str, int] | None:
        return None if self.memory is None else self.memory.levels


def node_ips(node: str) -> list[str]:
    return [f"198.18.0.{node[-1]}"]


def pod_ips(node: str, host_network: Any, uid: str, name: str, namespace: str) -> list[str]:
    """Return the addresses of a pod: two on the node whose pods have two."""
    if host_network:
        return node_ips(node)
    return [f"10.0.{node[-1]}.{uid[-1]}", *([f"fd00::{uid[-1]}"] if node == "node-2" else [])]


FUNCTIONS: Functions = {"NodeIPsWith": node_ips, "PodIPsWith": pod_ips}


def pod(number: int, program: str, node: str = "node-0", **spec: Any) -> Json:
    """Return a pod whose container does what a program says."""
    container = {"name": "main", "image": "busybox", **spec.pop("container", {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "default",
            "uid": f"u-{number}",
            "generation": 1,
            "creationTimestamp": format_time(START - 1 - number),
            "annotations": {"program.kwokctl.dev/main": program},
        },
        "spec": {"restartPolicy": "Always", "nodeName": node, "containers": [container], **spec},
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def by_itself(moment: Moment) -> PodOutcome:
    body = moment.pod
    is_host = bool(body["spec"].get("hostNetwork"))
    node, meta = body["spec"]["nodeName"], body["metadata"]
    own = own_ips(body, is_host=is_host)
    place = NodeOffer(
        host_ips=node_ips(node),
        pod_ips=own or pod_ips(node, is_host, meta["uid"], meta["name"], meta["namespace"]),
    )
    return sync(body, moment.memory, moment.now, place)


def after(body: Json, outcome: PodOutcome) -> Json:
    return body if outcome.status is None else status_patch(body, outcome.status).result


def moments(body: Json, begin: float, deleted: float = math.inf) -> Iterator[Moment]:
    """Yield the moments of a pod's life at which something is due."""
    now, memory = begin, None
    for _ in range(16):
        if now >= deleted and "deletionTimestamp" not in body["metadata"]:
            end = {"deletionTimestamp": format_time(now + 5), "deletionGracePeriodSeconds": 5}
            body = {**body, "metadata": {**body["metadata"], **end, "generation": 2}}
        moment = Moment(body, now, memory)
        yield moment
        outcome = by_itself(moment)
        body, memory = after(body, outcome), outcome.memory
        now = max(min(outcome.due, now + 400.0), now)
        if outcome.deletes:
            return


class Alike:
    """Knows pods that are alike, as soon as there is one."""

    def __init__(self) -> None:
        self.plans = Plans(PODS)

    def form(self, body: Json) -> ObjectForm | None:
        meta = body["metadata"]
        words = meta["name"], meta["uid"], body["spec"]["nodeName"]
        raw = orjson.dumps(with_version(body, VERSION))
        return [self.plans.form(raw, words, VERSION) for _ in range(8)][-1]

    def plan(self, moment: Moment) -> tuple[Shape, LifePlan | None]:
        form = self.form(moment.pod)
        assert form is not None
        return form.shape, life_plan(form, moment.look, self.plans.known)


def assert_same(planned: PodOutcome, moment: Moment) -> None:
    """Compare what a plan has made with what becomes of the pod by itself."""
    expected = by_itself(moment)
    for name in ("due", "events", "deletes", "memory"):
        assert getattr(planned, name) == getattr(expected, name), name
    assert (planned.form is None) == (expected.status is None)
    if planned.form is not None:
        whole = after(moment.pod, expected)
        assert planned.form.opened(VERSION) == with_version(whole, VERSION)
        assert planned.form.stored() == value_of(whole, "v1", "Pod")


LIVES: dict[str, dict[str, Any]] = {
    "runs": {"program": ""},
    "completes": {"program": "run=3s", "restartPolicy": "Never"},
    "crashes": {"program": "run=1s exit=1"},
    "crashes in seconds": {"program": "run=7s exit=1", "restartPolicy": "OnFailure"},
    "fails to pull": {"program": "pull-failures=2 pull=2s"},
    "is sick": {"program": "sick=3s", "container": {"livenessProbe": PROBE}},
    "flaps": {"program": "ready=1s flap=2s", "container": {"readinessProbe": PROBE}},
    "starts": {"program": "started=4s", "container": {"startupProbe": PROBE}},
    "has a deadline": {"program": "", "activeDeadlineSeconds": 8},
    "has two addresses": {"program": "run=2s", "node": "node-2"},
    "has its node's addresses": {"program": "run=2s", "hostNetwork": True},
    "ends slowly": {"program": "stop=3s", "terminationGracePeriodSeconds": 5},
}


@pytest.mark.parametrize("name", LIVES)
@pytest.mark.parametrize("deleted", [math.inf, START + 4.5], ids=["left alone", "deleted"])
def test_each_moment_of_a_pod_is_planned_for_those_alike(name: str, deleted: float) -> None:
    alike = Alike()
    lives = [
        list(moments(pod(number, **LIVES[name]), START + begin, deleted))
        for number, begin in ((1, 0.0), (2, 0.3))
    ]
    looks = [each for life in lives for each in between(life)]
    known = [(form, each) for each in looks if (form := alike.form(each.pod)) is not None]
    planned = 0

    for moment in lives[0]:
        shape, plan = alike.plan(moment)
        if plan is None:
            continue
        for form, other in known:
            if form.shape is shape and other.levels == moment.levels:
                planned += _compare(plan, form, other)

    assert planned > len(lives[0])


def between(life: list[Moment]) -> Iterator[Moment]:
    """Yield the moments at which a pod is due, and some a little before, and long after."""
    yield from life
    for first, second in pairwise(life):
        for now in (second.now - 0.25, second.now + 0.5):
            if now > first.now:
                yield second.at(now)


def _compare(plan: LifePlan, form: ObjectForm, moment: Moment) -> bool:
    try:
        found = plan.outcome(form, moment.look)
    except MisfitError:
        return False
    assert_same(found, moment)
    return True


def known_outcome(alike: Alike, lives: LifePlans, moment: Moment) -> PodOutcome | None:
    """Return what becomes of a pod when as many like it have come as a plan needs."""
    form = alike.form(moment.pod)
    assert form is not None
    return [lives.outcome(form, moment.look) for _ in range(8)][-1]


def test_pods_of_which_otherwise_is_decided_have_plans_of_their_own() -> None:
    alike = Alike()
    lives = LifePlans(alike.plans)
    running = running_moment(pod(1, "run=7s exit=1"))
    end = running.now

    for now in (end - 3.0, end + 1.0, end - 2.5, end + 1.5):
        planned = known_outcome(alike, lives, running.at(now))
        assert planned is not None
        assert_same(planned, running.at(now))


def running_moment(body: Json) -> Moment:
    """Return when something is due for the first time after the container of a pod has started."""
    return next(each for each in moments(body, START) if started(each))


def started(moment: Moment) -> bool:
    containers = (moment.pod["status"].get("containerStatuses")) or [{}]
    return "running" in containers[0].get("state", {})


@pytest.mark.parametrize("is_host", [False, True])
def test_a_pod_keeps_its_addresses_unless_they_are_those_of_its_node(is_host: bool) -> None:
    body = pod(1, "run=3s", hostNetwork=is_host)
    ended = running_moment(body)
    names = ("hostIP", "podIP") if is_host else ("podIP",)
    old: Json = dict.fromkeys(names, "10.7.7.7")
    old |= {f"{name}s": [{"ip": "10.7.7.7"}] for name in names}
    moment = ended._replace(pod={**ended.pod, "status": {**ended.pod["status"], **old}})

    alike = Alike()
    planned = known_outcome(alike, LifePlans(alike.plans), moment)

    assert planned is not None
    assert_same(planned, moment)
    addresses = after(moment.pod, by_itself(moment))["status"]["podIPs"]
    assert addresses == [{"ip": "198.18.0.0" if is_host else "10.7.7.7"}]


def test_what_the_api_server_would_refuse_is_not_planned() -> None:
    alike = Alike()
    form = alike.form(pod(1, ""))
    assert form is not None
    for addresses, is_planned in (
        (["10.0.0.1", "fd00::1"], True),
        (["10.0.0.1", "10.0.0.2"], False),
    ):
        functions: Functions = {**FUNCTIONS, "PodIPsWith": lambda *_, found=addresses: found}
        begun = list(moments(pod(1, ""), START))
        plans = [
            life_plan(form, PodLook(each.now, each.memory, functions), alike.plans.known)
            for each in begun
            if (form := alike.form(each.pod)) is not None
        ]
        assert all(plans) is is_planned


@pytest.mark.parametrize("level", [0, 1, 4])
def test_pods_whose_back_off_counts_other_starts_have_plans_of_their_own(level: int) -> None:
    alike = Alike()
    lives = LifePlans(alike.plans)
    waiting = list(moments(pod(1, "run=1s exit=1"), START))[8]
    assert waiting.memory is not None
    for other in (2, level):
        moment = waiting._replace(memory=waiting.memory._replace(levels={"main": other}))
        planned = known_outcome(alike, lives, moment)
        assert planned is not None
        assert_same(planned, moment)


def test_a_pod_with_an_ephemeral_container_that_has_just_come_is_looked_at_by_itself() -> None:
    alike = Alike()
    lives = LifePlans(alike.plans)
    body = pod(1, "run=7s")
    body["metadata"]["annotations"]["program.kwokctl.dev/debug"] = "pull=5s"
    running = running_moment(body)
    waiting = running._replace(memory=PodMemory(running.now, {}, {"debug": running.now}))
    debug = {"ephemeralContainers": [{"name": "debug", "image": "busybox"}]}
    new = running._replace(pod={**running.pod, "spec": {**running.pod["spec"], **debug}})

    assert known_outcome(alike, lives, running) is not None
    assert known_outcome(alike, lives, waiting) is None
    memory = by_itself(new).memory
    assert memory is not None
    assert memory.arrived
    assert known_outcome(alike, lives, new) is None


def test_a_pod_whose_image_a_fault_has_kept_back_is_looked_at_by_itself() -> None:
    alike = Alike()
    lives = LifePlans(alike.plans)
    first = next(moments(pod(1, "pull=5s"), START))
    held = first._replace(memory=PodMemory(first.now, blocked=first.now))
    free = first._replace(memory=PodMemory(first.now))

    assert known_outcome(alike, lives, free) is not None
    assert known_outcome(alike, lives, held) is None
