"""The head of the page: the verdict, the figures in large digits, and the bands."""

from collections.abc import Iterator, Sequence

import msgspec

from kwokctl.clusters.status import RunStatus
from kwokctl.measure.pages.page_data import HeadlineFigure, PageBand, PageLevel, PageVerdict
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.model import ClusterName
from kwokctl.view.content.fault_items import fault_bands
from kwokctl.view.content.mark_items import mark_bands
from kwokctl.view.content.pod_items import PodCharts
from kwokctl.view.content.words import lasting
from kwokctl.view.state.cluster_state import ClusterState

_SILENT = 3.0
"""Seconds without an answer from which on the API server counts as gone."""
_RECENT = 60.0
"""Seconds for which an interruption of a watch is mentioned."""
_LONG_WAIT = 60
"""Seconds from which on a pod that waits is worth a remark."""
_BY_LEVEL: tuple[PageLevel, ...] = ("bad", "warning", "neutral", "good")
_Remark = tuple[PageLevel, str]


class LiveHead(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the head that change."""

    verdict: PageVerdict
    headline: Sequence[HeadlineFigure]
    bands: Sequence[PageBand]


def live_head(state: ClusterState, charts: PodCharts) -> LiveHead:
    """Return the head for the present."""
    return LiveHead(
        verdict=_verdict(state),
        headline=_headline(state, charts),
        bands=[*fault_bands(state.faults), *mark_bands(state.marks, state.began)],
    )


def reading(cluster: ClusterName) -> PageVerdict:
    """Return the verdict before anything is known."""
    return PageVerdict(text=f"Reading the cluster '{cluster}'.")


def _verdict(state: ClusterState) -> PageVerdict:
    """Return the worst remark, with the others as notes."""
    found = sorted(_remarks(state), key=lambda each: _BY_LEVEL.index(each[0]))
    if not found:
        text = "All nodes are Ready, no fault is open, and no pod waits for long."
        return PageVerdict(level="good", text=text)
    (level, text), *others = found
    return PageVerdict(level=level, text=text, notes=[note for _, note in others])


def _remarks(state: ClusterState) -> Iterator[_Remark]:
    time, plane, fleet = state.now(), state.plane, state.fleet
    silent = 0 if plane.silent_since is None else (time - plane.silent_since) / SECOND
    if silent > _SILENT:
        yield (
            "bad",
            f"The API server has not answered for {lasting(silent)}; what follows is as it was then.",
        )
    for status in plane.statuses.values():
        if status.status is not RunStatus.READY:
            ends = (
                "runs, but is not ready" if status.status is RunStatus.NOT_READY else "does not run"
            )
            yield "bad", f"The component '{status.name}' {ends}."
    if not state.is_watched:
        yield (
            "neutral",
            f"Reading the cluster: {len(fleet.nodes):,} nodes and {len(state.pods.pods):,} pods so far.",
        )
    late = sum(not node.is_ready for node in fleet.nodes.values())
    if late:
        yield "warning", f"{_are(late, 'node')} not Ready, of {len(fleet.nodes):,}."
    if state.faults.open:
        yield "warning", f"{_are(len(state.faults.open), 'fault')} open."
    yield from _of_waiting(state, time)
    yield from _of_record(state, time)


def _of_waiting(state: ClusterState, time: int) -> Iterator[_Remark]:
    since = min(
        (pod.waits_since for some in state.pods.waiting.values() for pod in some.values()),
        default=time,
    )
    waited = (time - since) / SECOND
    if waited >= _LONG_WAIT:
        number = state.pods.waiting_number
        yield "warning", f"{_are(number, 'pod')} waiting, the longest for {lasting(waited)}."


def _of_record(state: ClusterState, time: int) -> Iterator[_Remark]:
    gap, behind = state.plane.last_gap, state.plane.last_behind
    if gap and (time - gap.end) / SECOND < _RECENT and gap.end - gap.begin > SECOND:
        took = lasting((gap.end - gap.begin) / SECOND)
        yield (
            "neutral",
            f"The watch of {gap.kind} was interrupted for {took}: what happened then was seen at its end.",
        )
    if behind and (time - behind.time) / SECOND < _RECENT:
        yield "neutral", f"The view was {behind.wait / SECOND:.1f} s late: this machine is busy."


def _headline(state: ClusterState, charts: PodCharts) -> list[HeadlineFigure]:
    nodes, pods, answer = state.fleet.nodes, state.pods, state.plane.answer
    ready = sum(node.is_ready for node in nodes.values())
    waiting, failed = pods.waiting_number, pods.phases["Failed"]
    is_answered = answer is not None and answer.status == 200
    return [
        HeadlineFigure(
            name="Nodes Ready", value=f"{ready:,}", unit=f"of {len(nodes):,}",
            level="good" if ready == len(nodes) else "warning",
        ),
        HeadlineFigure(name="Pods running", value=f"{pods.phases['Running']:,}"),
        HeadlineFigure(
            name="Pods waiting", value=f"{waiting:,}", level="warning" if waiting else "neutral"
        ),
        *([HeadlineFigure(name="Pods failed", value=f"{failed:,}", level="warning")] if failed else ()),
        HeadlineFigure(name="Bound", value=f"{charts.rate('bound'):,.1f}", unit="pods/s"),
        HeadlineFigure(
            name="Open faults", value=f"{len(state.faults.open):,}",
            level="warning" if state.faults.open else "neutral",
        ),
        HeadlineFigure(
            name="API server answers in",
            value=f"{answer.took / 1e6:.0f}" if answer and is_answered else "none",
            unit="ms" if is_answered else "",
            level="neutral" if is_answered or answer is None else "bad",
        ),
    ]  # fmt: skip


def _are(number: int, noun: str) -> str:
    return f"{number:,} {noun} is" if number == 1 else f"{number:,} {noun}s are"
