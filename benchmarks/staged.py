"""What it takes until Stages with delays have been played on a fleet: nodes that boot, pods that start.

    python -m benchmarks.staged [--scale 0.02] [--stories boot general fast] [--turns 3] [--into FILE]

Times run from the start of `scale` until watches of this program's own have seen the last object, as in
`benchmarks.fleet`. A figure counts only if all objects have ended alike.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.cluster import FailedError
from benchmarks.fleet import Sizes, Stage, run_turns
from benchmarks.observer import Node
from benchmarks.processes import CONTROLLER
from benchmarks.results import FILE
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import EVENTS, NODES, PODS, Resource

_LONGEST_BOOT = 15
_BOOT = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "boot"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "selector": {
            "matchExpressions": [{"jq": {"key": ".status.phase", "operator": "DoesNotExist"}}]
        },
        "delay": {"durationMilliseconds": 5000, "jitterDurationMilliseconds": _LONGEST_BOOT * 1000},
        "steps": [
            {
                "patch": {
                    "subresource": "status",
                    "root": "status",
                    "template": """
conditions:
{{ range NodeConditions }}
- type: {{ Quote .type }}
  status: {{ Quote .status }}
  reason: {{ Quote .reason }}
  message: {{ Quote .message }}
  lastHeartbeatTime: {{ Quote Now }}
  lastTransitionTime: {{ Quote Now }}
{{ end }}
phase: Running
""",
                }
            }
        ],
    },
}
_WAIT = {
    **_BOOT,
    "metadata": {"name": "later"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchExpressions": [{"jq": {"key": ".status.podIP", "operator": "DoesNotExist"}}]
        },
        "delay": {"durationMilliseconds": 3_600_000},
        "steps": [{"delete": True}],
    },
}
_OWN = ("IP", "IPs", "ime", "edAt", "ip", "ID", "address", "Identifier")
"""How fields end that differ from object to object."""


@dataclass(slots=True)
class Boots:
    """When nodes were first seen to be Ready, and free of taints, on the clock of this program."""

    ready: dict[str, float] = field(default_factory=dict)
    free: dict[str, float] = field(default_factory=dict)

    def note(self, node: Node) -> None:
        """Take note of a node as it is now."""
        now, name = time.perf_counter(), node.metadata.name
        if any(each.type == "Ready" and each.status == "True" for each in node.status.conditions):
            self.ready.setdefault(name, now)
        if node.is_ready:
            self.free.setdefault(name, now)


async def boot(stage: Stage) -> None:
    """Make nodes that boot by a Stage within 5 to 15 s."""
    count = stage.sizes.of("boot")
    boots, returned = Boots(), 0.0
    began = time.perf_counter()

    async def scale() -> None:
        nonlocal returned
        await stage.meter.cluster.kwokctl("scale", "node", f"--replicas={count}")
        returned = time.perf_counter()

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(_follow(stage, boots))
        measured = await stage.meter.work(scale, lambda: len(boots.free) == count)
        watching.cancel()
    await _check(stage, NODES, count)
    late = max(boots.ready.values()) - returned - _LONGEST_BOOT
    stage.ledger.add("boot-command", count, returned - began)
    stage.ledger.add("boot-late", count, max(late, 0.0))
    stage.report("boot", count, measured)


async def _follow(stage: Stage, boots: Boots) -> None:
    decode = msgspec.json.Decoder(Node).decode
    async with aclosing(watch(stage.client.pool, NODES, decoder=decode)) as batches:
        async for batch in batches:
            for event in batch:
                if event.object is not None:
                    boots.note(event.object)


async def general(stage: Stage) -> None:
    """Spread pods of the general set over nodes, each with delays of 1 to 6 s a Stage."""
    nodes, pods = stage.sizes.scaled(10_000), stage.sizes.of("general")
    await stage.scaled("node", nodes)
    await asyncio.sleep(stage.sizes.settling / 3)
    measured = await stage.scaled("pod", pods, "--on-nodes=type=kwok")
    memory = stage.meter.memory()
    await _check(stage, PODS, pods)
    await _check_events(stage, pods)
    stage.report("general", pods, measured, nodes=nodes)
    stage.ledger.add("general-cpu", pods, measured.each(pods)[CONTROLLER])
    stage.ledger.add("general-memory", pods, memory[CONTROLLER], nodes=nodes)


async def fast(stage: Stage) -> None:
    """Spread as many pods of the fast set over as many nodes."""
    nodes, pods = stage.sizes.scaled(10_000), stage.sizes.of("general")
    await stage.scaled("node", nodes)
    await asyncio.sleep(stage.sizes.settling / 3)
    measured = await stage.scaled("pod", pods, "--on-nodes=type=kwok")
    await _check(stage, PODS, pods)
    stage.report("fast-beside", pods, measured, nodes=nodes)


async def waiting(stage: Stage) -> None:
    """Compare the idle controller with and without pods whose Stage is due in an hour."""
    nodes, pods = stage.sizes.scaled(1_000), stage.sizes.of("waiting")
    seen = stage.meter.observer.pods
    await stage.scaled("node", nodes)
    without = await _controller_at_rest(stage)
    await stage.meter.work(
        lambda: stage.meter.cluster.kwokctl("scale", "pod", f"--replicas={pods}"),
        lambda: len(seen.existing) == pods,
    )
    with_pods = await _controller_at_rest(stage)
    await _check(stage, PODS, pods)
    stage.ledger.add("waiting", pods, max(with_pods - without, 0.0), nodes=nodes)


async def _controller_at_rest(stage: Stage) -> float:
    """Return the CPU that the controller uses when nothing is asked for, in percent of a core."""
    await asyncio.sleep(stage.sizes.settling)
    rest = await stage.meter.rest(stage.sizes.idle)
    return rest.cpu[CONTROLLER] / rest.seconds * 100


async def _check(stage: Stage, resource: Resource, count: int) -> None:
    """Raise FailedError unless so many objects have the same status, but for what is their own."""
    found: Counter[str] = Counter()
    async for page in list_pages(stage.client.pool, ListQuery(resource=resource)):
        for raw in page.objects:
            body = msgspec.json.decode(raw)
            found[json.dumps(_shape(body["status"]), sort_keys=True)] += 1
    if list(found.values()) != [count]:
        raise FailedError(f"{count} {resource.plural} ended in {len(found)} ways: {found}")


async def _check_events(stage: Stage, pods: int) -> None:
    query = ListQuery(resource=EVENTS, field_selector="reason=Created")
    found: Counter[str] = Counter()
    async for page in list_pages(stage.client.pool, query):
        for raw in page.objects:
            found[msgspec.json.decode(raw)["involvedObject"]["name"]] += 1
    if len(found) != pods or set(found.values()) != {1}:
        raise FailedError(f"{found.total()} Events exist for {len(found)} of {pods} pods")


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items() if not key.endswith(_OWN)}
    return [_shape(item) for item in value] if isinstance(value, list) else value


_Story = Callable[[Stage], Awaitable[None]]
_STORIES: Mapping[str, tuple[_Story, tuple[str, ...], object]] = {
    "boot": (boot, ("--stage=node-initialize-",), _BOOT),
    "general": (general, ("--stage=pod-general",), None),
    "fast": (fast, (), None),
    "waiting": (waiting, ("--stage=pod-ready-",), _WAIT),
}
"""What is measured, with which sets, and with which Stage beside them."""


def main() -> None:
    """Run the requested stories."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--stories", nargs="+", choices=_STORIES, default=list(_STORIES))
    parser.add_argument("--settling", type=float, default=30.0, help="seconds before pods are made")
    parser.add_argument(
        "--idle",
        type=float,
        default=60.0,
        help="seconds for which a controller at rest is measured",
    )
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    parser.add_argument("--turns", type=int, default=3, help="clusters of which the median counts")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    sizes = Sizes(scale=options.scale, pods_share=1.0, settling=options.settling, idle=options.idle)
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        config = Path(folder, "stage.yaml")
        for name in options.stories:
            story, words, own = _STORIES[name]
            config.write_text(json.dumps(own))
            more = (f"--config={config}",) if own else ()
            run_turns(story, (*words, *more), sizes, into, options.turns)


if __name__ == "__main__":
    main()
