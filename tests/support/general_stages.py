"""Stages that take a pod through its life step by step, as those of kwok's general set do."""

from collections.abc import Sequence
from typing import Any

_ALIVE = {"jq": {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}}
_CONDITIONS = """
conditions:
{{{{ $now := Now }}}}
{{{{ range $kind, $is := dict "Initialized" "{initialized}" "Ready" "{ready}" "ContainersReady" "{ready}" }}}}
- lastProbeTime: null
  lastTransitionTime: {{{{ $now | Quote }}}}
  status: {{{{ $is | Quote }}}}
  type: {{{{ $kind }}}}
{{{{ end }}}}
"""
_STATUSES = """
{field}:
{{{{ range .spec.{containers} }}}}
- image: {{{{ Quote .image }}}}
  name: {{{{ Quote .name }}}}
  ready: {ready}
  restartCount: 0
  state: {state}
{{{{ end }}}}
"""
_DONE = (
    "{terminated: {exitCode: 0, reason: Completed, startedAt: {{ Now | Quote }}, "
    "finishedAt: {{ Now | Quote }}}}"
)


def _jq(key: str, operator: str = "DoesNotExist", *values: str) -> dict[str, Any]:
    return {
        "jq": {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    }


def _containers(state: str, *, ready: str = "false", init: bool = False) -> str:
    return _STATUSES.format(
        field="initContainerStatuses" if init else "containerStatuses",
        containers="initContainers" if init else "containers",
        ready=ready,
        state=state,
    )


def _stage(
    name: str, template: str, *conditions: dict[str, Any], shortest: int = 500
) -> dict[str, Any]:
    annotation = f'.metadata.annotations["{name}.stage.kwok.x-k8s.io/'
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [_ALIVE, *conditions]},
            "weight": 1,
            "weightFrom": {"expressionFrom": f'{annotation}weight"]'},
            "delay": {
                "durationMilliseconds": shortest,
                "durationFrom": {"expressionFrom": f'{annotation}delay"]'},
                "jitterDurationMilliseconds": 5 * shortest,
                "jitterDurationFrom": {"expressionFrom": f'{annotation}jitter-delay"]'},
            },
            "next": {
                "event": {"type": "Normal", "reason": name, "message": f"as {name} says"},
                "statusTemplate": template,
            },
        },
    }


def general_pod_stages(set_name: str) -> Sequence[dict[str, Any]]:
    """Return the Stages for the pods of a set."""
    ours = _jq('.metadata.labels["kwok.x-k8s.io/kwokctl-scale"]', "In", set_name)
    pending = _jq(".status.phase", "In", "Pending")
    initialized = '.status.conditions.[] | select(.type == "Initialized") | .status'
    waiting = "{waiting: {reason: PodInitializing}}"
    addresses = """
{{ with .spec.nodeName }}
hostIP: {{ NodeIPWith . | Quote }}
{{ end }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
phase: Pending
"""
    first = "{{ if .spec.initContainers }}" + _CONDITIONS.format(initialized="False", ready="False")
    first += "{{ else }}" + _CONDITIONS.format(initialized="True", ready="False") + "{{ end }}"
    return [
        _stage(
            "pod-create",
            first + _containers(waiting) + _containers(waiting, init=True) + addresses,
            ours,
            _jq(".status.podIP"),
        ),
        _stage(
            "pod-init-container-running",
            _containers("{running: {startedAt: {{ Now | Quote }}}}", init=True),
            ours,
            pending,
            _jq(initialized, "NotIn", "True"),
            _jq(".status.initContainerStatuses.[].state.waiting.reason", "Exists"),
        ),
        _stage(
            "pod-init-container-completed",
            _CONDITIONS.format(initialized="True", ready="False")
            + _containers("{waiting: {reason: ContainerCreating}}")
            + _containers(_DONE, ready="true", init=True),
            ours,
            pending,
            _jq(".status.initContainerStatuses.[].state.running.startedAt", "Exists"),
        ),
        _stage(
            "pod-ready",
            _CONDITIONS.format(initialized="True", ready="True")
            + _containers("{running: {startedAt: {{ Now | Quote }}}}", ready="true")
            + "phase: Running\nstartTime: {{ Now | Quote }}\n",
            ours,
            pending,
            _jq(initialized, "In", "True"),
            _jq(".status.containerStatuses.[].state.running.startedAt"),
        ),
    ]
