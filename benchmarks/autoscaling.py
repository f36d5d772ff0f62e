"""A HorizontalPodAutoscaler for as long as a user would watch it: up under a step of usage, and down again.

    python -m benchmarks.autoscaling [--minutes 3 6 4]

All is as the components have it by themselves: rounds of 15 s, five minutes in which the CPU of a pod that
is not ready does not count. The usage is that of a ClusterResourceUsage, which changes under running pods.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchmarks.cluster import FailedError, fresh_cluster
from benchmarks.report import Row, report
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import DEPLOYMENTS

_NAMESPACE, _NAME = "default", "web"
_LEAST, _MOST, _TARGET = 1, 6, "600m"
_QUIET, _BUSY, _OVER = "300m", "900m", "50m"
_LABELS = {"app": _NAME}
_EVERY = 1.0
"""Seconds between two looks."""
_DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": _NAME},
    "spec": {
        "replicas": _LEAST,
        "selector": {"matchLabels": _LABELS},
        "template": {
            "metadata": {"labels": _LABELS},
            "spec": {
                "containers": [
                    {"name": "app", "image": "x", "resources": {"requests": {"cpu": "500m"}}}
                ]
            },
        },
    },
}
_CPU = {"name": "cpu", "target": {"type": "AverageValue", "averageValue": _TARGET}}
_AUTOSCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": _NAME},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": _NAME},
        "minReplicas": _LEAST,
        "maxReplicas": _MOST,
        "metrics": [{"type": "Resource", "resource": _CPU}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    },
}


@dataclass(slots=True)
class Watched:
    """How many replicas were wanted, and since when."""

    began: float
    changes: list[tuple[float, int]] = field(default_factory=list)

    @property
    def now(self) -> float:
        """Return the seconds since the beginning."""
        return time.perf_counter() - self.began

    def note(self, replicas: int) -> None:
        """Keep and print a change."""
        if not self.changes or self.changes[-1][1] != replicas:
            self.changes.append((self.now, replicas))
            print(f"  {self.now:6.0f} s: {replicas} replicas", flush=True)

    def first(self, replicas: int, since: float) -> float:
        """Return how long after a moment there were so many; FailedError if there never were."""
        for at, found in self.changes:
            if at >= since and found == replicas:
                return at - since
        raise FailedError(f"there were never {replicas} replicas: {self.changes}")


async def _story(client: Client, minutes: Sequence[float]) -> list[Row]:
    await _use(client, _QUIET, is_new=True)
    await client.create(DEPLOYMENTS, _NAMESPACE, msgspec.json.encode(_DEPLOYMENT))
    autoscalers = await client.resource_for("autoscaling/v2", "HorizontalPodAutoscaler")
    await client.create(autoscalers, _NAMESPACE, msgspec.json.encode(_AUTOSCALER))
    watched, moments = Watched(time.perf_counter()), []
    for used, length in zip((_QUIET, _BUSY, _OVER), minutes, strict=True):
        await _use(client, used)
        moments.append(watched.now)
        print(f"  {watched.now:6.0f} s: each pod uses {used}", flush=True)
        await _look(client, watched, watched.now + length * 60)
    _, up, down = moments
    if any(replicas != _LEAST for at, replicas in watched.changes if at < up):
        raise FailedError(f"it scaled without a step: {watched.changes}")
    return [
        Row(f"from the step up to {_MOST} replicas", watched.first(_MOST, up), "s"),
        Row(f"from the step down to {_LEAST}", watched.first(_LEAST, down), "s"),
    ]


async def _look(client: Client, watched: Watched, until: float) -> None:
    while watched.now < until:
        found = await client.get(DEPLOYMENTS, _NAMESPACE, _NAME)
        watched.note(found["spec"]["replicas"])
        await asyncio.sleep(_EVERY)


async def _use(client: Client, cpu: str, *, is_new: bool = False) -> None:
    """Let every pod use so much from now on."""
    kind = await client.resource_for("kwok.x-k8s.io/v1alpha1", "ClusterResourceUsage")
    metadata: dict[str, Json] = {"name": _NAME}
    if not is_new:
        found = await client.get(kind, None, _NAME)
        metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
    body = msgspec.json.encode(
        {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "ClusterResourceUsage",
            "metadata": metadata,
            "spec": {"usages": [{"usage": {"cpu": {"value": cpu}, "memory": {"value": "64Mi"}}}]},
        }
    )
    if is_new:
        await client.create(kind, None, body)
    else:
        await client.update(kind, None, _NAME, body)


def main() -> None:
    """Run the story and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--minutes", nargs=3, type=float, default=(3.0, 6.0, 4.0),
        help="before the step, of the step, and after it",
    )  # fmt: skip
    minutes = parser.parse_args().minutes
    words = ("--enable=metrics-server", "--enable-crds=ClusterResourceUsage")
    with fresh_cluster(*words, "--nodes=10") as cluster:

        async def run() -> list[Row]:
            async with cluster.pool() as pool:
                return await _story(Client(pool), minutes)

        report(f"an autoscaler for {sum(minutes):g} minutes", asyncio.run(run()))


if __name__ == "__main__":
    main()
