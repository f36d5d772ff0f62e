"""Writes what was found wrong with a machine and a cluster, as text and as a document."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kwokctl.cli.output import results
from kwokctl.cli.output.characters import encodable

if TYPE_CHECKING:
    from kwokctl.clusters.doctor.check import DoctorFinding
    from kwokctl.clusters.doctor.examine import Diagnosis, Examined
    from kwokctl.clusters.doctor.repairs import Repaired
    from kwokctl.json_value import Json

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
