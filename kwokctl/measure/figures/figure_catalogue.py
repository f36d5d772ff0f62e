"""All figures: the lists of the modules, one after the other."""

from collections.abc import Iterable, Mapping, Sequence

from kwokctl.measure.figures import (
    api,
    clients,
    components,
    control_plane,
    fleet,
    gangs,
    incidents,
    jobs,
    loads,
    pods,
    training,
)
from kwokctl.measure.figures import latencies as of_kinds
from kwokctl.measure.figures import metrics as of_components
from kwokctl.measure.figures.figure import Figure, RunView, Since
from kwokctl.measure.figures.fleet_replay import devices_of
from kwokctl.measure.grouping.pod_groups import group_of
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.fleet_lines import ZONE
from kwokctl.measure.record.record_lines import Header
from kwokctl.measure.scoring.score_words import ScoreWords

_USUAL = ScoreWords()
FIGURES: Sequence[Figure] = (
    *pods.FIGURES, *jobs.FIGURES, *gangs.FIGURES, *training.FIGURES, *fleet.FIGURES, *loads.FIGURES, *api.FIGURES,
    *control_plane.FIGURES, *components.FIGURES, *clients.FIGURES, *incidents.FIGURES,
)  # fmt: skip
PARTS = frozenset(figure.parts for figure in FIGURES) - {""}
"""The keys of the parts of figures, such as `component`."""
GROUPED: Sequence[Figure] = (*pods.FIGURES, *jobs.FIGURES, *gangs.FIGURES, *training.FIGURES)
"""Those that are computed for groups of pods, too."""
NAMED_BY_NODES: Sequence[Figure] = (
    *fleet.figures_of_devices(["DEVICE"]), *fleet.figures_of_topology(["LABEL"]),
)  # fmt: skip
"""Those of which there is one for each device, or for each label of nodes that was asked for."""
STATISTICS = {
    "distribution": ("count", "mean", "min", "p50", "p90", "p99", "max", "left_out", "open"),
    "series": ("count", "peak", "sustained"),
    "levels": ("mean", "min", "max", "first", "last"),
    "bounds": ("count", "p50", "p90", "p99"),
    "number": (),
}
"""The words that may stand behind the name of a figure, by the kind of its value."""


def figures_of(header: Header) -> Sequence[Figure]:
    """Return the figures of a record, but for those of devices."""
    return figures_named(header.latencies, header.topology, header.metrics, header.phases)


def figures_named(
    latencies: Iterable[str],
    topology: Iterable[str],
    metrics: Iterable[str],
    phases: Iterable[str] = (),
) -> Sequence[Figure]:
    """Return the figures that there can be with what was asked for, but for those of devices."""
    of_labels = fleet.figures_of_topology(dict.fromkeys((ZONE, *topology)))
    asked = (
        *of_kinds.figures_named(latencies),
        *of_components.figures_of_metrics(metrics),
        *incidents.figures_of_phases(phases),
    )
    return (*FIGURES, *of_labels, *asked)


def figures_in(history: History) -> Sequence[Figure]:
    """Return all figures of a run, also those of devices that its nodes have."""
    return (*figures_of(history.header), *fleet.figures_of_devices(devices_of(history)))


def whole_run(history: History, since: Since = "due", score: ScoreWords = _USUAL) -> RunView:
    """Return all of the run."""
    return RunView(
        history=history,
        pods=list(history.pods_of_run()),
        jobs=list(history.jobs_of_run()),
        arrivals=history.arrivals,
        since=since,
        score=score,
    )


def groups(view: RunView, key: str) -> Mapping[str, RunView]:
    """Part a run by a key, as `group_of` explains it; a Job is where its pods are."""
    history = view.history
    pods_of: dict[str, list[int]] = {}
    for place, pod in enumerate(view.pods):
        pods_of.setdefault(group_of(pod, history, key), []).append(place)
    found: dict[str, RunView] = {}
    for name, places in sorted(pods_of.items()):
        chosen = [view.pods[place] for place in places]
        owners = {pod.shape.owner_uid for pod in chosen}
        found[name] = RunView(
            history=history,
            pods=chosen,
            jobs=[job for job in view.jobs if job.uid in owners],
            arrivals=[each for each in view.arrivals if key == "load" and each.load == name],
            since=view.since,
            whole=view,
        )
    return found
