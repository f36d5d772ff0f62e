"""Writes random expressions in CEL: every operator, function and macro, on all types of values.

    python -m tests.support.cel_cases COUNT SEED FILE

writes a golden file without results, which tests/support/cel_oracle fills in. The same count and
seed give the same expressions. Some mistake one type for another, so that what is refused, and where,
is compared as well. Left out is what is different each time it is evaluated, and what is deliberately
different; docs/reference/stages.md lists that.
"""

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

from tests.support.cel_grammar import GRAMMAR

OBJECTS: dict[str, Any] = {
    "Node": {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "node-7",
            "uid": "u-7",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"zone": "a", "type": "kwok"},
            "generation": 3,
            "finalizers": ["a/b"],
        },
        "spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "3900m", "memory": "255Gi", "pods": "110"},
            "capacity": {"cpu": "4", "memory": "256Gi", "pods": "110"},
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-02T03:04:05Z"},
                {"type": "DiskPressure", "status": "False"},
            ],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0", "architecture": "amd64"},
        },
    },
    "Pod": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "pod-1",
            "namespace": "default",
            "annotations": {"delay": "5s", "weight": "7", "usage": "1500m"},
            "labels": {},
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "deletionTimestamp": "2026-01-02T03:05:05Z",
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": True}
            ],
        },
        "spec": {
            "nodeName": "node-7",
            "priority": 5,
            "hostNetwork": True,
            "terminationGracePeriodSeconds": 30,
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "a",
                    "image": "nginx:1",
                    "args": ["x", "y"],
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "ports": [{"containerPort": 80, "name": "http"}],
                },
                {"name": "b", "image": "busybox", "resources": {}},
            ],
        },
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True"}],
            "containerStatuses": [
                {"name": "a", "ready": True, "restartCount": 2, "image": "", "imageID": "",
                 "state": {"running": {"startedAt": "2026-01-02T03:04:30Z"}}}
            ],
        },
    },
    "Job": {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job-1", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"a": "b"}},
        "spec": {
            "parallelism": 2, "ratio": 1.5, "suspend": True, "none": None, "text": "5s",
            "list": ["a", 1, 2.0, None], "names": ["a", "b"], "map": {"k": "v", "n": 3},
        },
        "status": {"phase": "Bound", "conditions": [{"type": "Complete", "status": "True"}]},
    },
}  # fmt: skip
"""The objects of all cases: two whose fields have types, one of plain data."""

FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "Node": {
        "str": ("self.metadata.name", "self.status.phase", "self.spec.providerID",
                "self.metadata.labels.zone", "self.metadata.labels['nope']",
                "self.status.nodeInfo.kubeletVersion", "self.status.conditions[0].type"),
        "bool": ("self.spec.unschedulable", "has(self.metadata.deletionTimestamp)",
                 "has(self.metadata.labels.nope)", "has(self.spec.podCIDR)", "has(self.spec)",
                 "has(self.metadata.annotations)", "'zone' in self.metadata.labels",
                 "'cpu' in self.status.capacity", "self.metadata.labels == self.metadata.annotations"),
        "int": ("self.metadata.generation", "size(self.status.conditions)",
                "self.status.daemonEndpoints.kubeletEndpoint.Port", "self.metadata.labels.size()"),
        "strs": ("self.metadata.finalizers", "self.spec.podCIDRs",
                 "self.status.conditions.map(c, c.type)", "self.spec.taints.map(t, t.key)"),
        "time": ("self.metadata.creationTimestamp", "self.metadata.deletionTimestamp",
                 "self.status.conditions[0].lastHeartbeatTime"),
        "quantity": ("self.status.allocatable['cpu']", "self.status.capacity['memory']",
                     "self.status.capacity['nope']"),
        "dyn": ("dyn(self.metadata.name)", "dyn(self.metadata.labels)", "self.metadata.labels"),
    },
    "Pod": {
        "str": ("self.metadata.namespace", "self.status.phase", "self.status.podIP",
                "self.spec.nodeName", "self.metadata.annotations.delay",
                "self.metadata.annotations['nope']", "self.spec.containers[1].image",
                "self.metadata.ownerReferences[0].kind"),
        "bool": ("self.spec.hostNetwork", "self.spec.hostPID", "has(self.metadata.deletionTimestamp)",
                 "has(self.status.startTime)", "has(self.metadata.labels)", "has(self.spec.hostIPC)",
                 "has(self.spec.securityContext)", "self.spec.securityContext == null",
                 "has(self.status.containerStatuses)", "self.spec.shareProcessNamespace",
                 "self.spec.containers.exists(c, c.name == 'b')", "has(self.spec.priority)",
                 "self.spec.containers.all(c, has(c.ports))", "self.spec.priority == null"),
        "int": ("self.spec.priority", "self.spec.terminationGracePeriodSeconds",
                "self.spec.activeDeadlineSeconds", "self.spec.containers.size()",
                "self.spec.containers[0].ports[0].containerPort",
                "self.status.containerStatuses[0].restartCount"),
        "strs": ("self.metadata.finalizers", "self.spec.containers.map(c, c.image)",
                 "self.spec.containers.filter(c, c.name != 'a').map(c, c.name)",
                 "self.spec.containers[0].args"),
        "time": ("self.metadata.deletionTimestamp", "self.status.startTime",
                 "self.status.containerStatuses[0].state.running.startedAt"),
        "quantity": ("self.spec.containers[0].resources.requests['cpu']",
                     "self.spec.containers[1].resources.requests['cpu']",
                     "Quantity(self.metadata.annotations['usage'])"),
        "dyn": ("dyn(self.spec.priority)", "dyn(self.metadata.annotations)", "dyn(null)"),
    },
    "Job": {
        "str": ("self.kind", "self.metadata.name", "self.spec.text", "self.status.phase",
                "self.metadata.labels.a", "self.spec.map.k", "self.spec.names[1]"),
        "bool": ("self.spec.suspend", "has(self.metadata.deletionTimestamp)", "has(self.spec.none)",
                 "has(self.nope.nope)", "self.status.phase in ['Bound', 'Failed']",
                 "self.spec.none == null", "'k' in self.spec.map", "has(self.spec.list)",
                 "self.status.conditions.exists(c, c.type == 'Complete' && c.status == 'True')"),
        "int": ("self.spec.parallelism", "size(self.spec.list)", "self.spec.map.n", "self.spec.nope"),
        "strs": ("self.spec.names", "self.spec.list",
                 "self.status.conditions.map(c, c.status)"),
        "time": ("timestamp(self.metadata.creationTimestamp)", "timestamp(self.spec.text)"),
        "quantity": ("Quantity('1500m')", "Quantity(self.spec.text)"),
        "dyn": ("self.spec.parallelism", "self.spec.ratio", "self.spec.none", "self.spec.list",
                "self.spec.map", "self.spec.list[2]", "self.spec.map.nope", "self['spec']['text']"),
    },
}  # fmt: skip
"""Fields of each kind by the type that they have, or turn out to have."""

VALUES = ("bool", "int", "double", "uint", "str", "time", "duration", "ints", "strs", "map", "dyn")
TOPS = (*VALUES, "quantity", "bytes", "bool", "bool", "bool")
WRONG = (
    "self.kind", "self.spec.nope", "nope", "foo(1)", "'a'.foo()", "self.metadata.name.x", "1 + 'a'",
    "!1", "has(self)", "1 +", "(1", "'abc", "[1, 2", "{'a'}", "self..a", "a b", "1 == 1.0", "if",
    "[1].map(1, 2)", "'a'.all(x, true)", "size()", "size(1)", "1 ? 2 : 3", "null + 1", "Quantity(1)",
    "SinceSecond(1)", "self.metadata.?name", "9223372036854775808", "true ? 1 : 'a'", "@",
)  # fmt: skip
_MISTAKES = 0.02
_DEEPEST = 3


class Author:
    """Writes expressions about the objects of one kind."""

    def __init__(self, kind: str, chance: random.Random) -> None:
        self._fields = FIELDS[kind]
        self._chance = chance

    def write(self, type_: str, depth: int = 0) -> str:
        if type_ == "any":
            type_ = self._chance.choice(VALUES)
        if type_ != "order" and self._chance.random() < _MISTAKES:
            return self._chance.choice(WRONG) if depth else self.write("any", depth + 1)
        fields = self._fields.get(type_, ())
        shapes = GRAMMAR[type_]
        if depth >= _DEEPEST:
            shapes = tuple(shape for shape in shapes if "<" not in shape) or shapes
        if fields and self._chance.random() < (0.3 if depth < _DEEPEST else 0.7):
            return self._chance.choice(fields)
        shape = self._chance.choice(shapes)
        if type_ == "order":
            return shape
        return re.sub(r"<([a-z]+)>", lambda match: self._inner(match[1], depth + 1), shape)

    def _inner(self, type_: str, depth: int) -> str:
        written = self.write(type_, depth)
        return f"({written})" if re.search(r"[ ?]|^-|^!", written) and type_ != "order" else written


def cases(count: int, seed: int) -> list[dict[str, str]]:
    """Return expressions, each but once for a kind."""
    chance = random.Random(seed)
    authors = {kind: Author(kind, chance) for kind in OBJECTS}
    found: dict[tuple[str, str], None] = {}
    while len(found) < count:
        kind = chance.choice(list(authors))
        text = authors[kind].write(chance.choice(TOPS))
        if len(text) < 200:
            found[kind, text] = None
    return [{"kind": kind, "text": text} for kind, text in found]


def main(count: int, seed: int, path: Path) -> None:
    """Write the file."""
    about = "Random expressions: written by tests/support/cel_cases.py, answered by cel_oracle."
    golden = {"about": about, "objects": OBJECTS, "cases": cases(count, seed)}
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
