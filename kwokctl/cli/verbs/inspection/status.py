"""`status`: a whole cluster on one screen."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results, standard_streams
from kwokctl.cli.output.characters import encodable
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import DataOutput
from kwokctl.config.quantity import to_text

if TYPE_CHECKING:
    from kwokctl.clusters.overview.figures import (
        ControllerReport,
        Nodes,
        Overview,
        Pods,
        Problem,
        Store,
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("kwokctl status", "kwokctl --name big status --watch", "kwokctl status -o json")
    commands.command(app, "status", panel=commands.CLUSTERS, examples=examples)(status)


def status(
    call: Invocation,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Keep running, and refresh every 2 s")
    ] = False,
    output: DataOutput = "",
) -> None:
    """Show a cluster and its problems on one screen.

    CPU is the number of processors used during half a second. Pods that run are only
    counted; others are counted by the status that 'kubectl get pods' shows. What cannot be found out
    is left out, and null in json and yaml. Exits with 1 unless every component is ready.
    """
    from kwokctl.clusters.overview.gather import look, looks
    from kwokctl.clusters.status import RunStatus

    name = call.cluster
    call = call.quietly()
    if watch:
        call.run(emit_overviews, looks(call.home, name), output)
        return
    seen = call.run(look, call.home, name)
    if output:
        results.emit_data(seen, output)
    else:
        emit_overview(seen)
    if seen.status is not RunStatus.READY:
        raise typer.Exit(1)


_HEADINGS = ("COMPONENT", "STATUS", "VERSION", "CPU", "MEMORY")
_UNKNOWN, _STOPPED, _READY = "unknown", "Stopped", "Ready"
_STAGES = 3
"""Names of Stages that are written out."""
_MORE = ("", "more problems: kwokctl doctor")
"""The lines that stand for problems without room."""
_AGAIN = "\x1b[H\x1b[J"
"""Erases the screen (ECMA-48, CUP and ED)."""


def emit_overview(seen: "Overview", rows: int = 0) -> None:
    """Write components, objects, and what is wrong.

    On a screen of too few rows, components that are ready are only counted; if that is not enough,
    so are the last problems.
    """
    head = [*results.parted(_head(seen)), ""]
    components, known = [*_components(seen)], [*_figures(seen)]
    figures = _lines(known)
    problems = [[*_problem(each)] for each in seen.problems]
    if rows and _height(head, components, figures, *problems) > rows:
        late = [each for each in components if each[1] != _READY]
        figures = _lines([("others", f"{len(components) - len(late)} {_READY}"), *known])
        components = late
        problems = _shown(problems, rows - _height(head, components, figures))
    results.emit("\n".join((*head, "")))
    if components:
        results.emit_table(_HEADINGS, components)
        results.emit("\n")
    results.emit("\n".join(figures))
    for lines in problems:
        results.emit("\n".join(lines))


def _lines(figures: Sequence[tuple[str, str]]) -> list[str]:
    """Write names and figures in two columns; a figure that is long goes on in the next line."""
    column = max(len(name) for name, _ in figures) + 3
    lines = (f"{name:{column}}{figure}" for name, figure in figures)
    return [part for line in lines for part in results.parted(line, hanging=column)]


async def emit_overviews(looks: AsyncIterator["Overview"], output: str) -> None:
    """Write one look after the other; on a terminal each one in place of the last."""
    async for seen in looks:
        if output:
            results.emit("---" if output == "yaml" else "")
            results.emit_data(seen, output)
            continue
        is_screen = standard_streams.is_screen(sys.stdout, os.environ)
        results.emit_bytes(_AGAIN.encode() if is_screen else b"\n")
        emit_overview(seen, shutil.get_terminal_size().lines if is_screen else 0)


def _head(seen: "Overview") -> str:
    return f"{seen.name}: {seen.status}, Kubernetes {seen.kube_version}, runtime {seen.runtime}"


def _problem(problem: "Problem") -> Iterator[str]:
    yield ""
    yield from results.parted(f"{encodable('✗', sys.stdout.encoding)} {problem.what}")
    yield from results.parted(f"  {problem.remedy}")


def _height(
    head: Sequence[str],
    components: Sequence[object],
    figures: Sequence[object],
    *problems: Sequence[str],
) -> int:
    """Return how many rows a look takes, with that of the cursor."""
    table = 2 + len(components) if components else 0
    return len(head) + table + len(figures) + sum(map(len, problems)) + 1


def _shown(problems: Sequence[list[str]], room: int) -> list[list[str]]:
    """Return the first problems, as many as there are rows for, and how many more there are."""
    if sum(map(len, problems)) <= room:
        return [*problems]
    ends = [*accumulate(map(len, problems))]
    fitting = sum(end <= room - len(_MORE) for end in ends)
    more = f"{len(problems) - fitting} {_MORE[1]}"
    return [*problems[:fitting], [_MORE[0], more]]


def _components(seen: "Overview") -> Iterator[tuple[str, ...]]:
    for each in seen.components:
        usage = seen.usage.get(each.name)
        cpu, memory = (f"{usage.cpu:.2f}", to_text(usage.memory)) if usage else ("-", "-")
        yield each.name, each.status, each.version or "-", cpu, memory


def _figures(seen: "Overview") -> Iterator[tuple[str, str]]:
    runs = seen.status != _STOPPED
    if runs:
        yield "nodes", _nodes(seen.nodes)
        yield "pods", _pods(seen.pods)
        yield "etcd", _etcd(seen.etcd)
    yield "writes", seen.writes
    yield "heartbeat", seen.heartbeat
    if runs:
        yield "Stages", _stages(seen.controller.stages) if seen.controller else _UNKNOWN
        yield "watch", _watch(seen.controller)


def _nodes(nodes: "Nodes | None") -> str:
    if nodes is None:
        return _UNKNOWN
    return f"{nodes.ready:,} of {nodes.total:,} Ready" if nodes.total else "none"


def _pods(pods: "Pods | None") -> str:
    if pods is None:
        return _UNKNOWN
    return _by_status(pods.by_status) if pods.total else "none"


def _by_status(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in counts.items())


def _etcd(store: "Store | None") -> str:
    if store is None:
        return _UNKNOWN
    used = f"{to_text(store.size)}, {to_text(store.in_use)} in use"
    share = f"{store.size / store.quota:.0%} of its quota of {to_text(store.quota)}"
    return f"{used}; {share}" if store.quota else used


def _watch(controller: "ControllerReport | None") -> str:
    if controller is None:
        return _UNKNOWN
    if controller.watch_delay is None:
        return "its delay is measured only where the controller writes straight to etcd"
    return f"{controller.watch_delay:.2f} s behind the writes"


def _stages(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_STAGES])
    more = len(names) - _STAGES
    return f"{len(names)}: {shown}, and {more} more" if more > 0 else shown or "none"
