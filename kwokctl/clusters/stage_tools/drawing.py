"""Writes the states of objects and the Stages between them as text."""

from collections.abc import Iterator, Sequence

from kwokctl.clusters.stage_tools.graph import KindGraph

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
