"""Pods in an etcd in memory that live as on a kubelet, by the whole controller on a clock that jumps."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson

from kwokctl.controller.lifecycle.kubelet_life import KubeletLife
from kwokctl.errors import EtcdRefusedError
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.resource import PODS
from tests.support.etcd_of_pods import KEYS
from tests.support.kubelet_recordings.cases import Action, cases
from tests.support.pods_in_etcd import FIRST, Delays, Story
from tests.support.virtual_time import run

_BEGINS = 1.2
"""Seconds after which something has become of a pod: what is done to it counts from then."""
_PROGRAMS = (
    "run=1s exit=1", "run=3s", "run=2s exit=1,0", "", "ready=2s", "ready=1s flap=2s", "sick=3s", "started=4s",
    "pull=2s", "pull-failures=2", "stop=3s", "stop=forever", "unready=5s", "run=1s exit=oom back-off=throughout",
    "run=2s exit=3,0 reason=Lost message='rank 2 is lost'",
)  # fmt: skip
_PROBE = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1, "failureThreshold": 2}
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What another client does to a pod, or the node."""

    at: float
    pod: str
    do: Callable[["LivingPods", Json], None]


class LivingPods(Story):
    """An etcd, and the controller whose pods live in it."""

    def __init__(self, random: Random, *, is_planned: bool) -> None:
        super().__init__((), "etcd", random, is_planned=is_planned, has_kubelet_pods=True)

    def observed(self) -> Mapping[str, object]:
        """Return all that was written, when pods were due, and what is remembered of them."""
        looks = self.life._looks
        return {
            "written": self.etcd.all_written(),
            "due": self.delays.due,
            "memories": looks._memories,
            "counts": {
                uid: (each.left, each.at, each.seen)
                for uid, each in self.life._event_counts._pods.items()
            },
        }

    @property
    def life(self) -> KubeletLife:
        """What lets the pods live."""
        return self.controller.life

    def take_over(self) -> None:
        """Let another controller go on, which sees all pods as they are stored."""
        self.delays, due = Delays(), self.delays.due
        self.delays.due = due
        self.controller = self.new_controller(Random(2))
        for key, found in sorted(self.etcd.stored.items()):
            if key.startswith(KEYS.folder(PODS)):
                self.show(orjson.loads(found.value), found.mod_revision)


def lived(
    pods: Sequence[tuple[float, Json]],
    deeds: Sequence[Deed] = (),
    *,
    seconds: float,
    is_planned: bool = True,
    takeover: float = 0.0,
) -> LivingPods:
    """Let pods live, each from its time on; another controller takes them over at a time if one is given."""

    async def whole() -> LivingPods:
        story = LivingPods(Random(1), is_planned=is_planned)
        await story.plane.record(FIRST)
        todo = [(at, _put(pod)) for at, pod in pods] + [(each.at, _done(each)) for each in deeds]
        until = takeover or seconds
        await _live(story, [each for each in todo if each[0] < until], until)
        if takeover:
            story.take_over()
            await _live(story, [each for each in todo if each[0] >= until], seconds)
        return story

    return run(whole())


async def _live(
    story: LivingPods, todo: Sequence[tuple[float, Callable[[LivingPods], None]]], until: float
) -> None:
    clock = asyncio.get_running_loop().time
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(story.controller.run())
        for at, do in sorted(todo, key=lambda each: each[0]):
            await asyncio.sleep(at - clock())
            do(story)
        await asyncio.sleep(until - clock())
        task.cancel()


def _put(pod: Json) -> Callable[[LivingPods], None]:
    return lambda story: story.put(pod)


def _done(deed: Deed) -> Callable[[LivingPods], None]:
    def do(story: LivingPods) -> None:
        found = story.pod(deed.pod)
        if found is not None:
            deed.do(story, found)

    return do


def deleted(grace: int) -> Callable[[LivingPods, Json], None]:
    """Return what deletes a pod with a time to end."""

    def do(story: LivingPods, pod: Json) -> None:
        meta = pod["metadata"]
        meta["deletionTimestamp"] = format_time(int(story.wall()) + grace)
        meta["deletionGracePeriodSeconds"] = grace
        meta["generation"] = meta.get("generation", 0) + 1
        story.put(pod)

    return do


def evicted(story: LivingPods, pod: Json) -> None:
    """Evict a pod."""
    seen: Json = {**pod, "metadata": {**pod["metadata"], "resourceVersion": "1"}}
    if story.controller.notices.may_evict(seen):
        story.controller.notices.evict(seen, "The node was low on resource: memory. ")


def refused(story: LivingPods, _: Json) -> None:
    """Let etcd refuse the next writes."""
    story.etcd.refuse += [EtcdRefusedError("etcdserver: too many requests", code=8)] * 3


def patched(
    patch: Mapping[str, Any], *, of_spec: bool = False
) -> Callable[[LivingPods, Json], None]:
    """Return what patches a pod."""

    def do(story: LivingPods, pod: Json) -> None:
        after = apply_patch(pod, dict(patch), PatchType.STRATEGIC, "Pod")
        if of_spec:
            after["metadata"]["generation"] += 1
        story.put(after)

    return do


def recorded_pods(
    name: str, count: int, random: Random
) -> tuple[list[tuple[float, Json]], list[Deed], float]:
    """Return copies of a recorded case that begin at several moments, what is done to them, and for how long."""
    [case] = [each for each in cases() if each.name == name]
    pods, deeds = [], []
    for number in range(count):
        body = deepcopy(dict(case.body))
        at = random.choice((0.0, 0.0, 0.3, 0.75, random.random()))
        pods.append((at, _bound(body, number, random)))
        deeds += [_deed(each, at, body["metadata"]["name"]) for each in case.actions]
    return pods, deeds, case.seconds + 3 * _BEGINS + 20


def _deed(action: Action, begin: float, name: str) -> Deed:
    at = begin + _BEGINS + action.at
    if action.delete is not None:
        return Deed(at=at, pod=name, do=deleted(action.delete))
    if action.status is not None:
        return Deed(at=at, pod=name, do=patched({"status": dict(action.status)}))
    if action.resize is not None:
        return Deed(at=at, pod=name, do=patched({"spec": dict(action.resize)}, of_spec=True))
    return Deed(at=at, pod=name, do=evicted)


def random_pods(random: Random, count: int) -> tuple[list[tuple[float, Json]], list[Deed]]:
    """Return pods of a few random templates, and what is done to some of them."""
    templates = [_template(random) for _ in range(random.randint(1, 3))]
    pods, deeds = [], []
    for number in range(count):
        at = random.choice((0.0, 0.0, 0.5, round(random.random(), 2), 2 * random.random()))
        body = _bound(deepcopy(random.choice(templates)), number, random)
        pods.append((at, body))
        name = body["metadata"]["name"]
        if random.random() < 0.3:
            grace = random.choice((0, 1, 5, 30))
            deeds.append(
                Deed(at=at + random.choice((0.2, 4.0, 9.5, 21.0)), pod=name, do=deleted(grace))
            )
        elif random.random() < 0.1:
            deeds.append(Deed(at=at + 6.0, pod=name, do=evicted))
    return pods, deeds


def _template(random: Random) -> Json:
    body: Json = {"apiVersion": "v1", "kind": "Pod"}
    annotations: dict[str, str] = {}
    spec: Json = {"restartPolicy": random.choice(("Always", "Always", "OnFailure", "Never"))}
    for part, most in (("initContainers", 2), ("containers", 3)):
        number = random.randint(part == "containers", most)
        spec[part] = [_container(f"{part[0]}{each}", part, random) for each in range(number)]
        annotations |= {
            f"program.kwokctl.dev/{each['name']}": random.choice(_PROGRAMS)
            for each in spec[part]
            if random.random() < 0.8
        }
    if not spec["initContainers"]:
        del spec["initContainers"]
    if random.random() < 0.2:
        spec["activeDeadlineSeconds"] = 8
    if random.random() < 0.2:
        spec["terminationGracePeriodSeconds"] = random.choice((0, 2))
    if random.random() < 0.1:
        spec["hostNetwork"] = True
    if random.random() < 0.2:
        spec["readinessGates"] = [{"conditionType": "example.com/open"}]
    return {**body, "metadata": {"annotations": annotations}, "spec": spec}


def _container(name: str, part: str, random: Random) -> Json:
    found: Json = {"name": name, "image": random.choice(("busybox", "example.com/a:1"))}
    if part == "initContainers" and random.random() < 0.4:
        found["restartPolicy"] = "Always"
    if random.random() < 0.5:
        found["resources"] = {"requests": {"cpu": "10m"}}
    for probe in _PROBES:
        if random.random() < 0.25 and (part == "containers" or "restartPolicy" in found):
            found[probe] = {**_PROBE, "initialDelaySeconds": random.randint(0, 2)}
    return found


def _bound(body: Json, number: int, random: Random) -> Json:
    """Make a pod one of many: with a name of its own, on a node."""
    body["metadata"] |= {
        "name": f"pod-{number:03d}",
        "namespace": "default",
        "uid": f"00000000-0000-4000-8000-{number:012d}",
        "generation": 1,
        "creationTimestamp": f"2026-01-01T11:59:{random.randrange(60):02d}Z",
    }
    body["spec"]["nodeName"] = f"node-{random.choice((0, 0, 0, 1, 2))}"
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": "2026-01-01T11:59:59Z",
    }
    body["status"] = {"phase": "Pending", "conditions": [scheduled], "qosClass": "BestEffort"}
    return body
