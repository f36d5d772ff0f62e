"""Records written by hand, and what is computed from them."""

from collections.abc import Sequence
from typing import Any

from kwokctl.measure.figures.figure import Since
from kwokctl.measure.figures.figure_catalogue import FIGURES, figures_in, whole_run
from kwokctl.measure.figures.values import Value
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.gang_lines import GangSeen
from kwokctl.measure.record.record_lines import (
    Header,
    JobChange,
    JobSeen,
    Lines,
    PodChange,
    PodSeen,
    PodShape,
    RecordText,
    RunMoment,
    RunScope,
    Sent,
)

MS = 1_000_000
SECOND = 1000 * MS
BEGIN, END = RunMoment(0, "begin"), RunMoment(3600 * SECOND, "end")
BOUND, READY = 1, 2
TEXTS = (RecordText(BOUND, "PodScheduled"), RecordText(READY, "PodScheduled,Initialized,Ready"))
SHAPE = PodShape(1, "ReplicaSet", "web-1", "uid-of-web-1", 0, "cpu=1", {})


def header(**fields: Any) -> Header:
    """Return the first line of a record."""
    usual: dict[str, Any] = {
        "wall": "2026-01-02T03:04:05.000+00:00",
        "kwokctl": "0.0",
        "scope": RunScope(),
        "conditions": {"cluster": "the cluster 'x'", "nodes before": "3"},
        "labels": (),
    }
    return Header(**{**usual, **fields})


def history(lines: Sequence[Lines], **fields: Any) -> History:
    """Return what a record says that has these lines between its beginning and its end."""
    return History.of(header(**fields), [BEGIN, *TEXTS, SHAPE, *lines, END])


def figure(name: str, found: History, since: Since = "due") -> Value:
    """Return one figure of a run."""
    wanted = next(each for each in figures_in(found) if each.name == name)
    return wanted.value(whole_run(found, since))


def names() -> set[str]:
    """Return the names of all figures."""
    return {each.name for each in FIGURES}


def seen(number: int, time: int, **fields: Any) -> PodSeen:
    """Return the line of a pod that is seen first."""
    usual: dict[str, Any] = {
        "uid": f"uid-{number}",
        "namespace": "default",
        "name": f"web-{number}",
        "shape": 1,
        "node": "",
        "phase": "Pending",
        "conditions": 0,
        "created": 1_767_323_045,
        "listed": False,
    }
    return PodSeen(time=time, number=number, **{**usual, **fields})


def bound(number: int, time: int, node: str = "n1") -> PodChange:
    """Return the line of a pod that is bound."""
    return PodChange(time, number, node, "Pending", BOUND)


def running(number: int, time: int, node: str = "n1") -> PodChange:
    """Return the line of a pod that runs and is Ready."""
    return PodChange(time, number, node, "Running", READY)


def ended(number: int, time: int, node: str = "n1") -> PodChange:
    """Return the line of a pod that has succeeded."""
    return PodChange(time, number, node, "Succeeded", BOUND)


def life(number: int, *times: int, **fields: Any) -> list[Lines]:
    """Return the lines of a pod with the times at which it was created, bound, Running and ended."""
    makers = (bound, running, ended)
    rest = [make(number, time) for make, time in zip(makers, times[1:], strict=False)]
    return [seen(number, times[0], **fields), *rest]


def job(number: int, time: int, **fields: Any) -> JobSeen:
    """Return the line of a Job that is seen first."""
    usual: dict[str, Any] = {
        "uid": f"uid-of-job-{number}",
        "namespace": "default",
        "name": f"job-{number}",
        "owner_uid": "",
        "pods": 1,
        "labels": {},
        "state": "",
        "listed": False,
    }
    return JobSeen(time=time, number=number, **{**usual, **fields})


def done(number: int, time: int, pods: int = 1) -> JobChange:
    """Return the line of a Job that is complete."""
    return JobChange(time, number, "Complete", pods)


def gang(number: int, time: int, kind: str, **fields: Any) -> GangSeen:
    """Return the line of an object of gangs that is seen first."""
    usual: dict[str, Any] = {
        "uid": f"uid-of-gang-{number}",
        "namespace": "default",
        "name": f"gang-{number}",
        "owner_uid": "",
        "pods": 0,
        "labels": {},
        "state": "",
        "listed": False,
    }
    return GangSeen(time=time, number=number, kind=kind, **{**usual, **fields})


def sent(index: int, due: int, **fields: Any) -> Sent:
    """Return the line of an arrival."""
    usual: dict[str, Any] = {
        "load": "web",
        "phase": "",
        "act": "create",
        "sent": due,
        "accepted": due,
        "made": (),
        "refusal": "",
    }
    return Sent(index=index, due=due, **{**usual, **fields})
