"""Random Stages that use what Stages can do to pods, several of them for a pod at a time."""

from collections.abc import Sequence
from random import Random

from tests.support.stage_documents import PHASES, Body, stage

_STATUSES = """
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name }}
  containerID: {{ Quote (ContainerID $.metadata.uid .name) }}
  restartCount: 1
{{ end }}
"""
_TEXTS = (
    "reason: {{ .metadata.name }}",
    "reason: {{ Quote .metadata.name }}",
    'message: {{ Quote (printf "%s of %s" .metadata.name .metadata.creationTimestamp) }}',
    "message: {{ .metadata.uid | upper }}",
    'message: {{ Quote (printf "%q is schön" .metadata.name) }}',
    'message: {{ trimPrefix "pod-" .metadata.name }}',
    "message: {{ Quote (trimAll .metadata.name .metadata.name) }}",
    "nominatedNodeName: {{ .spec.nodeName }}",
    "nominatedNodeName: {{ Quote (trunc 3 .metadata.uid) }}",
    "message: {{ toJson .metadata.labels }}",
    "message: {{ Quote (default .metadata.name .status.message) }}",
    "message: {{ Quote .metadata.resourceVersion }}",
    "message: {{ Quote (UUIDFor .metadata.name) }}",
    "message: null",
    "reason: {{ randAlpha 3 | len }}x",
    'message: {{ Quote (now | date "05") }}',
    "podIP: {{ Quote PodIP }}\npodIPs: [{ip: {{ Quote PodIP }}}]",
    "hostIP: {{ Quote (NodeIPWith .spec.nodeName) }}",
    "hostIPs:\n{{ range NodeIPsWith .spec.nodeName }}\n- ip: {{ Quote . }}\n{{ end }}",
    'podIPs:\n{{ range PodIPsWith .spec.nodeName false .metadata.uid "" "" }}\n- ip: {{ . }}\n{{ end }}',
    'conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Quote Now }}}]',
    "conditions: [{type: {{ .metadata.name }}, status: Unknown}]",
    'conditions: [{type: Ready, status: "False", reason: {{ .status.phase }}}, {type: A, status: ""}]',
    "startTime: {{ .metadata.creationTimestamp }}",
    "startTime: {{ Quote (or .status.startTime Now) }}",
    _STATUSES,
    '{{ if eq .metadata.name "pod-005" }}reason: five{{ end }}',
    "{{ if .status.startTime }}reason: started{{ end }}",
    "qosClass: {{ .status.qosClass }}",
    "unknownField: {{ Quote .metadata.name }}",
    "startTime: {{ Quote .metadata.name }}",
)
_SELECTORS = (
    {"key": ".metadata.name", "operator": "Exists"},
    {"key": ".metadata.name", "operator": "NotIn", "values": ["pod-004", "pod-010"]},
    {"key": ".status.podIP", "operator": "DoesNotExist"},
    {"key": ".status.startTime", "operator": "DoesNotExist"},
    {"key": '.metadata.labels["odd"]', "operator": "In", "values": ["true"]},
    {"key": '.status.conditions.[] | select(.type == "Ready") | .status', "operator": "NotIn", "values": ["True"]},
    {"key": ".spec.containers.[].name", "operator": "In", "values": ["main"]},
    {"key": ".status | length", "operator": "NotIn", "values": ["3"]},
)  # fmt: skip
_DELAYS = (
    {"durationMilliseconds": 2000},
    {"durationMilliseconds": 500, "jitterDurationMilliseconds": 3000},
    {"durationFrom": {"jq": {"expression": '.metadata.annotations["delay"]'}}, "durationMilliseconds": 9},
    {"durationFrom": {"jq": {"expression": ".metadata.creationTimestamp"}}, "durationMilliseconds": 7},
)  # fmt: skip


def varied_stages(random: Random) -> Sequence[Body]:
    """Return some Stages that lead pods from phase to phase."""
    return [
        _one(f"s{number}", random.randrange(len(PHASES) - 1), random)
        for number in range(random.randint(3, 8))
    ]


def _one(name: str, at: int, random: Random) -> Body:
    texts = random.sample(_TEXTS, random.randint(1, 3))
    keys = {text.strip().partition(":")[0]: text for text in texts}
    phase = f"phase: {PHASES[random.randint(at + 1, len(PHASES) - 1)]}"
    if random.random() < 0.2:
        phase = ""  # it is played once: then it changes nothing any more
    more: Body = {"weight": random.randrange(4)} if random.random() < 0.5 else {}
    if random.random() < 0.4:
        more["delay"] = random.choice(_DELAYS)
    if random.random() < 0.3:
        more["selector"] = {"matchExpressions": [{"jq": random.choice(_SELECTORS)}]}
    steps: list[Body] = []
    if random.random() < 0.3:
        steps.append({"event": {"type": "Normal", "reason": "R", "message": "m"}})
    steps.append({"patch": _patch("\n".join([*keys.values(), phase]), random)})
    if random.random() < 0.2:
        steps.append({"patch": _patch("reason: {{ Quote .status.phase }}", random)})
    if random.random() < 0.1:
        steps.append({"finalizers": {"empty": True}})
    return stage(name, phase=PHASES[at], steps=steps, **more)


def _patch(template: str, random: Random) -> Body:
    more = {"type": "merge"} if random.random() < 0.2 else {}
    return {"subresource": "status", "root": "status", "template": template, **more}
