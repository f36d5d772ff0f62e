"""`doctor`: what is wrong with this machine and with a cluster, and what helps."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import DEFAULT_NAME, Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.characters import encodable
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import DataOutput

if TYPE_CHECKING:
    from kwokctl.clusters.doctor.check import DoctorFinding, Repaired
    from kwokctl.clusters.doctor.examine import Diagnosis, Examined
    from kwokctl.clusters.doctor.machine.checked_machine import Machine
    from kwokctl.json_value import Json
    from kwokctl.model import ClusterName


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("kwokctl doctor", "kwokctl --name big doctor --fix", "kwokctl doctor -o json")
    commands.command(app, "doctor", panel=commands.CLUSTERS, examples=examples)(doctor)


def doctor(
    call: Invocation,
    *,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Repair what can be repaired without losing data"),
    ] = False,
    online: Annotated[
        bool, typer.Option("--online", help="Also check the download sites of programs and images")
    ] = False,
    output: DataOutput = "",
) -> None:
    """Find problems of this machine and a cluster, with remedies.

    Examines the machine as a new cluster would find it, and the cluster if it exists. With --fix each
    repair is named before it begins, then all is examined again. Exits with 1 if anything is wrong.
    """
    from kwokctl.clusters.doctor.check import carry_out_repairs, repairs_of
    from kwokctl.clusters.doctor.examine import examine

    call = call.quietly(unless=not output)
    machine, name = _machine(call, online=online), _examined(call)
    seen = call.run(examine, machine, name)
    repairs = repairs_of(seen.findings)
    if fix and call.is_dry_run:
        titles = "; ".join(each.what for each in repairs)
        dry_run.remark(call, titles or "There is nothing to repair.", output)
        return
    done = call.run(carry_out_repairs, repairs, call.progress) if fix else []
    if done:
        seen = call.run(examine, machine, name)
    if output:
        results.emit_data(as_document(seen, done), output)
    else:
        emit_diagnosis(seen)
        _advise(call, seen, fix=fix)
    if seen.findings:
        raise typer.Exit(1)


def _advise(call: Invocation, seen: "Diagnosis", *, fix: bool) -> None:
    from kwokctl.clusters.doctor.check import repairs_of

    if not seen.findings:
        call.progress.note("nothing is wrong")
    elif not fix and repairs_of(seen.findings):
        call.progress.note(f"'{call.itself} doctor --fix' repairs what is marked with (--fix)")


def _machine(call: Invocation, *, online: bool) -> "Machine":
    """Return this machine with the options that a new cluster would have."""
    from kwokctl.clusters.doctor.machine.checked_machine import Machine
    from kwokctl.components.catalog import usual_options
    from kwokctl.config.resolve import resolve_options

    resolved = resolve_options(usual_options(), {}, os.environ, call.documents())
    return Machine(home=call.home, options=resolved.options, asks_sites=online)


def _examined(call: Invocation) -> "ClusterName | None":
    """Return the cluster to examine; none if the usual one does not exist."""
    is_there = call.home.paths(call.cluster).saved.is_file()
    return call.cluster if is_there or call.name != DEFAULT_NAME else None


_INDENT = " " * 4
_NOT_MADE = "-"
"""The sign of a check that was not made: it has found nothing, and has not passed."""


def emit_diagnosis(seen: "Diagnosis") -> None:
    """Write each check with its findings and their remedies."""
    parts = [("this machine", seen.machine)]
    if seen.cluster is not None:
        parts.append((f"cluster '{seen.cluster}'", seen.of_cluster))
    text = "\n\n".join("\n".join((title, *_lines(checks))) for title, checks in parts)
    results.emit(text)


def as_document(seen: "Diagnosis", done: "Sequence[Repaired]") -> "Json":
    """Return the checks with their findings as a document for programs."""
    return {
        "findings": len(seen.findings),
        "machine": [_check(each) for each in seen.machine],
        "cluster": seen.cluster,
        "ofCluster": [_check(each) for each in seen.of_cluster],
        "repaired": results.plain(list(done)),
    }


def _check(one: "Examined") -> "Json":
    return {
        "check": one.check,
        "looksAt": one.looks_at,
        "made": one.report.made,
        "state": one.report.state,
        "notes": [*one.report.notes],
        "findings": [_finding(each) for each in one.report.findings],
    }


def _finding(one: "DoctorFinding") -> "Json":
    repair = one.repair.what if one.repair else None
    return {"what": one.what, "remedy": one.remedy, "repair": repair}


def _mark(one: "Examined") -> str:
    if one.report.findings:
        return "✗"
    return "✓" if one.report.made else _NOT_MADE


def _lines(checks: "Sequence[Examined]") -> Iterator[str]:
    width = max((len(each.check) for each in checks), default=0)
    for each in checks:
        mark = encodable(_mark(each), sys.stdout.encoding)
        yield from results.parted(f"{mark} {each.check:{width}}  {each.report.state}")
        for finding in each.report.findings:
            fixable = " (--fix)" if finding.repair else ""
            yield from results.parted(f"{_INDENT}{finding.what}{fixable}")
            yield from results.parted(
                f"{_INDENT}  {encodable('→', sys.stdout.encoding)} {finding.remedy}"
            )
        for note in each.report.notes:
            yield from results.parted(f"{_INDENT}{note}")
