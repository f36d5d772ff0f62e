"""The states through which a set of Stages leads objects: found by playing it on examples, and drawn as text."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl import assets
from kwokctl.clusters.stage_tools.explain import StageVerdict, explain
from kwokctl.clusters.stage_tools.functions import example_functions
from kwokctl.controller.stages.compiled_stage import Kind, Stage, by_kind
from kwokctl.controller.stages.stage_choice import basis_of_sound, possible
from kwokctl.expr import yaml
from kwokctl.expr.duration import parse_time
from kwokctl.expr.gotemplate.template import Functions
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import UnknownPatchError, apply_patch

_ENOUGH = 200
"""States of an object after which a set is taken to lead on without end."""
_NOW = parse_time("2026-01-01T00:00:00Z")
"""The present time of the examples."""


class Transition(msgspec.Struct, frozen=True, order=True):
    """A Stage that leads from one state to another, after a delay in nanoseconds."""

    before: str
    stage: str
    delay: tuple[int, int]
    after: str


class KindGraph(msgspec.Struct, frozen=True, kw_only=True):
    """The states of the objects of a kind."""

    kind: str
    begins: tuple[str, ...]
    transitions: tuple[Transition, ...]
    unreached: tuple[str, ...]
    """Stages that were for no object on the way."""


def draw(stages: Sequence[Stage], objects: Sequence[Json]) -> list[KindGraph]:
    """Play the Stages of each kind on `objects`, or, where none is of the kind, on examples."""
    return [
        _graph(kind, of_kind, list(_begins(kind, of_kind, objects)))
        for kind, of_kind in by_kind(stages).items()
    ]


def _graph(kind: Kind, stages: Sequence[Stage], begins: Sequence[Json]) -> KindGraph:
    found: dict[Transition, None] = {}
    for value in begins:
        found |= dict.fromkeys(_path(stages, value))
    reached = {each.stage for each in found}
    return KindGraph(
        kind=kind.name,
        begins=tuple(dict.fromkeys(map(state_of, begins))),
        transitions=tuple(found),
        unreached=tuple(stage.name for stage in stages if stage.name not in reached),
    )


def _path(stages: Sequence[Stage], begin: Json) -> Iterator[Transition]:
    """Yield the transitions of an object from its state, and from each state that it reaches."""
    for value, verdict, after in steps(stages, begin):
        state = GONE if after is None else state_of(after)
        yield Transition(state_of(value), verdict.stage, verdict.delay, state)


def steps(stages: Sequence[Stage], begin: Json) -> Iterator[tuple[Json, StageVerdict, Json | None]]:
    """Yield an object before and after each Stage, in its state and in each that it reaches.

    None is an object that is gone.
    """
    functions = example_functions(lambda: _NOW)
    waiting = deque([begin])
    seen = {state_of(begin)}
    while waiting and len(seen) < _ENOUGH:
        value = waiting.popleft()
        for verdict in _chosen(stages, value, functions):
            after = _played(value, verdict)
            yield value, verdict, after
            if after is not None and state_of(after) not in seen:
                seen.add(state_of(after))
                waiting.append(after)


def _begins(kind: Kind, stages: Sequence[Stage], objects: Sequence[Json]) -> Iterator[Json]:
    """Yield the objects to begin with: each also with the labels and annotations that Stages ask for."""
    given = [each for each in objects if _is_of(kind, each)]
    for value in given or examples_of(kind):
        yield value
        for stage in stages:
            if stage.selector and (stage.selector.labels or stage.selector.annotations):
                yield _marked(value, stage)


def _marked(value: Json, stage: Stage) -> Json:
    assert stage.selector is not None
    metadata = value.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), **dict(stage.selector.labels)}
    annotations = {**(metadata.get("annotations") or {}), **dict(stage.selector.annotations)}
    return {**value, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def examples_of(kind: Kind) -> list[Json]:
    """Return objects of a kind; of one that no default Stage is for, one without any fields."""
    usual = [each for each in _examples() if _is_of(kind, each)]
    bare = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "object"}}
    return usual or [bare]


def _examples() -> Iterable[Json]:
    found: Mapping[str, Json] = yaml.load(assets.text("stages/examples.yaml"))
    return found.values()


def _is_of(kind: Kind, value: Json) -> bool:
    return (value["apiVersion"], value["kind"]) == (kind.api_version, kind.name)


def _chosen(stages: Sequence[Stage], value: Json, functions: Functions) -> list[StageVerdict]:
    """Return what the Stages that may be chosen for an object do."""
    chosen = possible(basis_of_sound(stages, value, lambda *_: None))
    return [each for each in explain(chosen, value, functions, _NOW) if not each.error]


def _played(value: Json, verdict: StageVerdict) -> Json | None:
    """Return the object after a Stage, None if it is gone."""
    for step in verdict.next:
        if step["kind"] == "delete":
            return None
        if step["kind"] == "patch":
            value = _patched(value, step)
    return value


def _patched(value: Json, step: Mapping[str, Json]) -> Json:
    try:
        return apply_patch(value, step["data"], PatchType(step["type"]), value["kind"])
    except UnknownPatchError:
        return value


GONE = "gone"
_NEW = "new"


def state_of(value: Json) -> str:
    """Return the phase of an object, its conditions that are true, and what its containers do."""
    status = value.get("status") or {}
    metadata = value.get("metadata") or {}
    words = [
        *([status["phase"]] if status.get("phase") else []),
        *_conditions(status),
        *_containers(status.get("initContainerStatuses") or [], "init "),
        *_containers(status.get("containerStatuses") or [], ""),
        *(["being deleted"] if metadata.get("deletionTimestamp") else []),
    ]
    return ", ".join(dict.fromkeys(map(str, words))) or _NEW


def _conditions(status: Mapping[str, Json]) -> Iterator[str]:
    for condition in status.get("conditions") or []:
        if condition.get("status") == "True" and condition.get("type") != "ContainersReady":
            yield condition["type"]


def _containers(statuses: list[Json], prefix: str) -> Iterator[str]:
    """Yield what containers do; running containers of a Running pod are not mentioned."""
    for each in statuses:
        for state, more in (each.get("state") or {}).items():
            if state != "running" or prefix:
                yield prefix + str((more or {}).get("reason") or state)


_BILLION = 1_000_000_000


def as_text(graphs: Sequence[KindGraph]) -> str:
    """Write each state with the Stages that lead away from it."""
    return "\n".join(line for graph in graphs for line in _text(graph)).rstrip()


def as_mermaid(graphs: Sequence[KindGraph]) -> str:
    """Write a diagram of states for https://mermaid.js.org, all kinds in one."""
    lines = ["stateDiagram-v2"]
    for number, graph in enumerate(graphs):
        lines += _mermaid(graph, f"k{number}")
    return "\n".join(lines)


def delay_in_words(delay: tuple[int, int]) -> str:
    """Write how long a Stage waits: `at once`, `1s`, or `1s to 5s`."""
    least, most = (f"{nanoseconds / _BILLION:g}s" for nanoseconds in delay)
    if not delay[1]:
        return "at once"
    return least if delay[0] == delay[1] else f"{least} to {most}"


def _text(graph: KindGraph) -> Iterator[str]:
    yield graph.kind
    for state in _states(graph):
        away = [each for each in graph.transitions if each.before == state]
        if not away and state not in graph.begins:
            continue
        yield f"  {state}" + ("" if away else "  (stays)")
        for each in away:
            after = "stays so" if each.after == state else each.after
            yield f"    {each.stage}, {delay_in_words(each.delay)}  ->  {after}"
    if graph.unreached:
        yield f"  match no object on the way:  {', '.join(graph.unreached)}"
    yield ""


def _mermaid(graph: KindGraph, prefix: str) -> Iterator[str]:
    names = {state: f"{prefix}s{number}" for number, state in enumerate(_states(graph))}
    yield f"    state {graph.kind} {{"
    for state, name in names.items():
        yield f'        state "{state}" as {name}'
    for state in graph.begins:
        yield f"        [*] --> {names[state]}"
    for each in graph.transitions:
        text = f"{each.stage} ({delay_in_words(each.delay)})"
        yield f"        {names[each.before]} --> {names[each.after]}: {text}"
    yield "    }"


def _states(graph: KindGraph) -> list[str]:
    after = [each.after for each in graph.transitions]
    return list(dict.fromkeys((*graph.begins, *after)))
