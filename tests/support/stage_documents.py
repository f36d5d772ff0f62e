"""Stage documents for tests, and what makes Stages of them."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_reader import read_stages

Body = dict[str, Any]


def stage(name: str, kind: str = "Pod", *, phase: str | None = "Pending", **spec: Any) -> Body:
    """Return a Stage for objects in a phase; with `template` it patches the status."""
    selector = spec.pop("selector", {})
    expressions = [*selector.get("matchExpressions", [])]
    if phase is not None:
        expressions.append({"jq": {"key": ".status.phase", "operator": "In", "values": [phase]}})
    template = spec.pop("template", None)
    if template is not None:
        patch = {"subresource": "status", "root": "status", "template": template}
        spec.setdefault("steps", []).append({"patch": patch})
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {**selector, "matchExpressions": expressions},
            **spec,
        },
    }


def read(bodies: Iterable[Mapping[str, Any]]) -> tuple[Stage, ...]:
    """Return the Stages of documents."""
    return read_stages(
        Document(
            kind="Stage", api_version="", name=each["metadata"]["name"], body=dict(each), source=""
        )
        for each in bodies
    )


PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_TEXTS = (
    "reason: {{ Quote .metadata.name }}",
    'message: {{ Quote (printf "on %s" .spec.nodeName) }}',
    "message: {{ Quote .metadata.uid }}",
    "podIP: {{ Quote PodIP }}",
    "hostIP: {{ Quote (NodeIPWith .spec.nodeName) }}",
    '{{ if eq .metadata.labels.odd "true" }}reason: odd{{ else }}reason: even{{ end }}',
    'conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Quote Now }}}]',
    'conditions: [{type: Ready, status: "False", reason: {{ Quote .status.phase }}}]',
    "startTime: {{ Quote Now }}",
    "{{ if .status.reason }}message: has a reason{{ end }}",
)
_WORDS = (
    '{labels: {odd: "true"}}',
    '{labels: {odd: "false"}, annotations: {from: {{ Quote .status.phase }}}}',
    "{annotations: {name: {{ Quote .metadata.name }}}}",
    "{annotations: {name: null, odd: {{ Quote .metadata.labels.odd }}}}",
    "{labels: {seen: {{ Quote .status.phase }}}}",
)
"""What may be patched into the metadata."""
_LATER = (
    {"delay": {"durationMilliseconds": 5000}},
    {"delay": {"durationMilliseconds": 0, "jitterDurationMilliseconds": 3000}},
)


def random_stages(random: Random) -> Sequence[Body]:
    """Return Stages that lead pods from phase to phase, some after a delay or with an event.

    At most one of them is for a pod at any time.
    """
    phases = random.sample(range(len(PHASES) - 1), random.randint(1, len(PHASES) - 1))
    return [_random_stage(f"s{at}", at, random) for at in phases]


def _random_stage(name: str, at: int, random: Random) -> Body:
    texts = random.sample(_TEXTS, random.randint(0, 2))
    phase = f"phase: {PHASES[random.randint(at + 1, len(PHASES) - 1)]}"
    more: Body = {}
    if random.random() < 0.2:
        more |= random.choice(_LATER)
    if random.random() < 0.1:
        more["steps"] = [{"event": {"type": "Normal", "reason": "R", "message": "m"}}]
    if random.random() < 0.2:
        words = {"root": "metadata", "template": random.choice(_WORDS)}
        more.setdefault("steps", []).append({"patch": words})
    if random.random() < 0.2:
        more["selector"] = {"matchLabels": {"odd": random.choice(("true", "false"))}}
    keys = {text.split(":")[0]: text for text in texts}
    return stage(name, phase=PHASES[at], template="\n".join([*keys.values(), phase]), **more)
