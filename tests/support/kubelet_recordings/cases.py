"""The pods that are compared with those of a real kubelet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "golden" / "kubelet"
IMAGE = "localhost/contained:1"
_PROBES = {"startup": "started", "readiness": "ready", "liveness": "alive"}
"""What each probe asks the program in the container."""
_NOT_IN_A_CONTAINER = "pull"
"""The first letters of the words that say how its image is pulled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is done to a pod while it is watched."""

    at: float
    delete: int | None = None
    """With this grace period."""
    status: Mapping[str, Any] | None = None
    """A patch of its status."""
    resize: Mapping[str, Any] | None = None
    """A patch of its spec."""
    presses: bool = False
    """Whether memory is taken of its node, until the kubelet evicts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A pod, for how long it is watched, and what is done to it."""

    name: str
    seconds: float
    body: Mapping[str, Any]
    actions: Sequence[Action] = ()

    @property
    def presses(self) -> bool:
        """Whether its node gets short of memory."""
        return any(action.presses for action in self.actions)

    @property
    def recording(self) -> Path:
        """The file with what a kubelet has made of it."""
        return FOLDER / "recordings" / f"{self.name}.yaml"


@cache
def cases() -> tuple[Case, ...]:
    """Return all of them."""
    return tuple(_case(each) for each in yaml.safe_load((FOLDER / "cases.yaml").read_text()))


def _case(given: Mapping[str, Any]) -> Case:
    return Case(
        name=given["name"],
        seconds=given["for"],
        body=_body(given["name"], given["spec"]),
        actions=tuple(Action(**each) for each in given.get("then", ())),
    )


def _body(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    every = [*given.get("initContainers", ()), *given["containers"]]
    annotations = {f"program.kwokctl.dev/{e['name']}": e["does"] for e in every if e["does"]}
    spec = {**given, "automountServiceAccountToken": False}
    for part in ("initContainers", "containers"):
        if part in given:
            spec[part] = [_container(each) for each in given[part]]
    spec["volumes"] = [{"name": "state", "emptyDir": {}}]
    meta = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _container(given: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in given.items() if name not in {*_PROBES, "does"}}
    words = [word for word in given["does"].split() if not word.startswith(_NOT_IN_A_CONTAINER)]
    probes = {
        f"{probe}Probe": {"exec": {"command": ["/contained", "probe", asked]}, "periodSeconds": 1}
        | given[probe]
        for probe, asked in _PROBES.items()
        if probe in given
    }
    return {
        "image": IMAGE,
        "command": ["/contained"],
        "args": words,
        "env": [{"name": "NAME", "value": given["name"]}],
        "volumeMounts": [{"name": "state", "mountPath": "/state"}],
        **probes,
        **own,
    }
