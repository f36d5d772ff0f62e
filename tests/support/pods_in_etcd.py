"""Plays Stages on pods in an etcd in memory, by the whole controller on a clock that jumps.

The controller writes through an API server, or straight to etcd; or `scale` has played the pods first.
"""

import asyncio
from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal, TypeAlias

import msgspec
import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.decoded import DecodedNode, DecodedPod
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.object_reader import ApiObjectReader
from kwokctl.controller.scheduling.delay_queue import DelayQueue, Waiter
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import DataPlane
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import value_of
from tests.support.as_scale_writes import as_scale_writes
from tests.support.controller_settings import controller_settings
from tests.support.etcd_of_pods import KEYS, Api, Etcd, Namespaces, with_version
from tests.support.recording_plane import RecordingPlane
from tests.support.virtual_time import run

_START = 1_767_268_800.0
_LONGEST = 200.0
"""Seconds on the clock that jumps."""
_NODES = 3
GPUS = {"nvidia.com/gpu": "40"}
"""The devices of each node, of which few pods ask for some."""

FIRST = ObjectEvent(
    resource=PODS, about_namespace="default", about="first", uid="u", version="7", type="Normal",
    reason="First", message="", component="test", at=_START,
)  # fmt: skip
"""It shows how Events are stored."""

Path: TypeAlias = Literal["api", "etcd", "scale"]
"""How pods are written: through the API server, to etcd, or to etcd after `scale` has played them."""


class Delays(DelayQueue):
    """Keeps for how long each pod has waited for which Stage."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[tuple[str, float]] = []
        self.due: dict[str, list[float]] = {}
        """For each object until when it has waited, one time after the other."""

    def put(self, waiter: Waiter, delay: float) -> None:
        super().put(waiter, delay)
        if isinstance(waiter, ObjectState) and waiter.awaited is not None and not waiter.tries:
            self.waits.append((waiter.awaited.name, delay))
            self.due.setdefault(waiter.key, []).append(waiter.due)


class Story:
    """Pods of an etcd, and the controller that plays them."""

    def __init__(
        self,
        stages: Sequence[Stage],
        path: Path,
        random: Random,
        *,
        is_planned: bool,
        has_kubelet_pods: bool = False,
    ) -> None:
        self.etcd = Etcd()
        self.delays = Delays()
        self.plane = RecordingPlane(self._plane(path))
        self._is_planned = is_planned
        self.settings = controller_settings(stages, has_kubelet_pods=has_kubelet_pods)
        self.controller = self.new_controller(random)

    def new_controller(self, random: Random) -> Controller:
        """Return a controller that knows the nodes, and no pods yet."""
        context = ControllerContext(
            plane=self.plane,
            reader=ApiObjectReader(Client(Namespaces())),
            random=random,
            wall=self.wall,
            faults=OpenFaults(FaultClock(self.wall)),
            delay_queue=self.delays,
            has_plans=self._is_planned,
        )
        controller = Controller(self.settings, "test", context)
        controller.pods_listed.set()
        for number in range(_NODES):
            raw = orjson.dumps(_node(number))
            controller.nodes.note(msgspec.json.decode(raw, type=DecodedNode), raw)
        return controller

    def wall(self) -> float:
        """Return the time of day."""
        return _START + self.delays.now()

    def _plane(self, path: Path) -> DataPlane:
        api = Api(self.etcd)
        if path == "api":
            return api
        route = EtcdRoute(address="", store=ObjectStore(self.etcd), keys=KEYS)
        plane = EtcdPlane(api, route, self.wall)
        # Nothing waits for another write, so that the same is done in the same order each time.
        plane.windows = {PODS: Window(first=10**9, most=10**9)}
        return plane

    def as_scale_writes(self, pods: Sequence[Json], random: Random) -> Iterator[Json]:
        """Yield pods as `scale` writes them."""
        now = format_time(int(self.wall()))
        return as_scale_writes(pods, self.controller, self.settings, now=now, random=random)

    def events(self) -> Iterator[Json]:
        """Yield the Events about pods."""
        for events in self.etcd.events().values():
            yield from (event for event in events if event["involvedObject"]["name"] != FIRST.about)

    def put(self, pod: Json) -> None:
        """Write a pod as another client does, and see it."""
        key = KEYS.key(PODS, "default", pod["metadata"]["name"])
        self.show(pod, self.etcd.put(key, value_of(pod, "v1", "Pod")))

    def show(self, pod: Json, revision: int) -> None:
        """See a pod as it is in a revision."""
        raw = orjson.dumps(with_version(pod, revision))
        self.controller.pods.note(msgspec.json.decode(raw, type=DecodedPod), raw)

    def pod(self, name: str) -> Json | None:
        """Return a pod as it is stored."""
        found = self.etcd.stored.get(KEYS.key(PODS, "default", name))
        return found and orjson.loads(found.value)

    @property
    def planned(self) -> int:
        """How many writes were planned."""
        return sum(name == "store_whole" for name, _ in self.plane.calls)

    @property
    def writes(self) -> int:
        """How many writes of pods there were, planned or not."""
        pods = KEYS.folder(PODS)
        return sum(len(values) for key, values in self.etcd.history.items() if key.startswith(pods))


def played(
    stages: Sequence[Stage],
    pods: Sequence[Json],
    changes: Sequence[tuple[float, Json]] = (),
    *,
    path: Path = "etcd",
    is_planned: bool = True,
    seed: int = 1,
) -> Story:
    """Play Stages on pods until nothing happens any more; others come, or are changed, meanwhile."""

    async def whole() -> Story:
        random = Random(seed)
        story = Story(stages, path, random, is_planned=is_planned)
        await story.plane.record(FIRST)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(story.controller.run())
            for pod in story.as_scale_writes(pods, random) if path == "scale" else pods:
                story.put(pod)
            for at, pod in changes:
                await asyncio.sleep(at - asyncio.get_running_loop().time())
                story.put(pod)
            await asyncio.sleep(_LONGEST)
            task.cancel()
        return story

    return run(whole())


def _node(number: int) -> Json:
    cidrs = [f"10.{number}.0.0/16", *([f"fd00:{number}::/64"] if number == 2 else [])]
    return {
        "metadata": {"name": f"node-{number}", "uid": f"uid-{number}", "resourceVersion": "7"},
        "spec": {"podCIDR": cidrs[0], "podCIDRs": cidrs},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": f"198.18.0.{number}"}],
            "capacity": GPUS,
            "allocatable": GPUS,
        },
    }


def pod(number: int, random: Random) -> Json:
    """Return a pod as the API server shows it: many are alike, and some are not."""
    name = f"pod-{number:03d}"
    container = {"image": "busybox", "imagePullPolicy": "Always", "resources": {}}
    volume = f"kube-api-access-{random.randrange(10**4):05d}"
    mount = {"name": volume, "mountPath": "/var/run/secrets", "readOnly": True}
    metadata: Json = {
        "name": name,
        "namespace": "default",
        "uid": f"00000000-0000-4000-8000-{number:012d}",
        "creationTimestamp": f"2026-01-01T00:00:{random.randrange(60):02d}Z",
        "labels": {"odd": random.choice(("true", "true", "false"))},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"}],
    }
    spec: Json = {
        "nodeName": f"node-{random.choice((0, 0, 1, 1, 2))}",
        "volumes": [{"name": volume}],
        "containers": [{"name": "main", **container, "volumeMounts": [mount]}],
    }
    _vary(metadata, spec, random)
    status = {"phase": "Pending", "qosClass": "BestEffort"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def _vary(metadata: Json, spec: Json, random: Random) -> None:
    """Give some pods what few have."""
    name = metadata["name"]
    choice = random.randrange(30)
    if choice == 0:
        metadata["labels"]["statefulset.kubernetes.io/pod-name"] = name
    elif choice == 1:
        spec["containers"][0]["name"] = name
    elif choice == 2:
        metadata["annotations"] = {
            "last": f'{{"name":"{name}","at":"2026-01-01T00:00:00Z"}}',
            name: "it",
        }
    elif choice == 3:
        spec["hostNetwork"] = True
    elif choice == 4:
        metadata["finalizers"] = ["example.com/held"]
    elif choice == 5:
        metadata["annotations"] = {"at": "2026-13-01T00:00:00Z", "name": name, "umlaut": "ü"}
