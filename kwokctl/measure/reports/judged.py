"""The beginning of a report: the verdict, and the outcomes of assertions."""

from collections.abc import Iterator

from kwokctl.measure.judging.assertions import Judgement
from kwokctl.measure.reports.report import RunReport
from kwokctl.measure.reports.words import number, seconds


def headline(report: RunReport) -> str:
    """Return the verdict in one line."""
    if not report.verdict.valid:
        return "INVALID"
    return "PASSED" if report.verdict.passed else "FAILED"


def subject(report: RunReport) -> str:
    """Say what was measured, when, and for how long."""
    cluster = report.conditions.get("cluster", "a cluster")
    moment = f", {report.wall[:19].replace('T', ' ')} UTC" if report.wall else ""
    return f"{cluster}{moment}, {seconds(report.seconds)}"


def scope_text(report: RunReport) -> str:
    """Say which objects count."""
    scope = report.scope
    what = "objects that were created while it was measured"
    if run := scope.get("run"):
        what = f"objects of the run '{run}', by label and owner"
    elif selector := scope.get("selector"):
        what = f"objects with the label '{selector}'"
    where = scope.get("namespace", "")
    return f"{what}, in the namespace '{where}'" if where else what


def assertion_text(judged: Judgement) -> str:
    """Return an assertion with its value: `ok  pods.bound == 5  (5)`."""
    mark = "ok    " if judged.passed else "FAILED"
    if judged.actual is None:
        return f"{mark} {judged.assertion}: not measured: {judged.why}"
    return f"{mark} {judged.assertion}: {number(judged.actual, judged.unit)}"


def condition_texts(report: RunReport) -> Iterator[str]:
    """Yield the conditions, but for the one that `subject` says."""
    for name, value in report.conditions.items():
        if name != "cluster" and value:
            yield f"{name}: {value}"
