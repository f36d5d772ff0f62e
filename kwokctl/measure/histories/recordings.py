"""Computes the history of a run from a recording of `snapshot record`, which has whole objects."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import msgspec

from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.recording.actions import Method, RecordedAction
from kwokctl.dataplane.objects.merged_lists import lists_of_kind
from kwokctl.json_value import Json
from kwokctl.kube.patching.directed_merge import directed_merge
from kwokctl.kube.patching.unknown_patch import UnknownPatchError
from kwokctl.kube.resource import (
    FAULT_PAGES,
    FAULT_SCHEDULES,
    FAULTS,
    JOBS,
    NODES,
    PODS,
    REPAIRS,
)
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.fleet_lines import ZONE
from kwokctl.measure.record.record_lines import Header, RunMoment, RunScope
from kwokctl.measure.watching.faults import FaultTracker
from kwokctl.measure.watching.gangs import GANG_KINDS, GangTracker
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.node_acts import NodeActs
from kwokctl.measure.watching.nodes import NodeTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Tracker
from kwokctl.measure.watching.repair_lines import repair_tracker, schedule_tracker
from kwokctl.measure.watching.seen_faults import FaultPageTracker, FaultTruths

_KINDS = {
    **{(each.group, each.plural): each.kind for each in (PODS, JOBS, NODES)},
    **{
        (each.group, each.plural): each.kind
        for each in (FAULTS, FAULT_PAGES, REPAIRS, FAULT_SCHEDULES)
    },
    **{(each.group, each.plural): each.kind for each in GANG_KINDS},
}
_PLURALS = {(group, kind): plural for (group, plural), kind in _KINDS.items()}
_Kind = tuple[str, str]
"""The API group and the plural of a kind."""
_Key = tuple[_Kind, str, str]
"""The kind, the namespace and the name of an object."""


def history_of_recording(path: Path, labels: tuple[str, ...]) -> History:
    """Return the history of pods, Jobs, nodes, gangs and Faults; SnapshotError, with the line, for what cannot be understood.

    The time of a change is that of the recording. `labels` are those that groups of pods need.
    """
    header = Header(
        wall="",
        kwokctl="",
        scope=RunScope(),
        conditions={"cluster": f"the recording '{path}'"},
        labels=labels,
        topology=(ZONE,),
        missing={
            "probes": "a recording of 'snapshot record' has no probes",
            "control plane": "a recording of 'snapshot record' has no metrics",
        },
    )
    recording = _Recording(header)
    file = ObjectFile(path)
    for found in file.objects(0):
        if plural := _PLURALS.get((found.group, found.kind)):
            value = msgspec.json.decode(found.body)
            key = ((found.group, plural), found.namespace, found.name)
            recording.see(key, value, 0, listed=True)
    recording.begin()
    for line, action in _actions(file):
        try:
            recording.take(action)
        except UnknownPatchError as e:
            raise file.fault(line, str(e)) from e
    recording.end()
    return recording.history


def _actions(file: ObjectFile) -> Iterator[tuple[int, RecordedAction]]:
    """Yield the changes of pods, Jobs, nodes, Faults and objects of gangs, with their lines."""
    for line, value in file.actions(0):
        try:
            action = msgspec.convert(value, RecordedAction)
        except msgspec.ValidationError as e:
            problem = str(e).replace("`", "'")
            raise file.fault(line, f"this change cannot be understood: {problem}") from e
        if _kind_of(action) in _KINDS:
            yield line, action


def _kind_of(action: RecordedAction) -> _Kind:
    return action.resource.group, action.resource.resource


class _Recording:
    """The objects of a recording as they were last."""

    def __init__(self, header: Header) -> None:
        self.history = History(header)
        emit = self.history.take
        texts = Texts(emit)
        pods = PodTracker(emit, texts, labels=header.labels, takes_existing=False)
        jobs = JobTracker(emit, labels=header.labels, takes_existing=False)
        acts = NodeActs(emit, texts)
        nodes = NodeTracker(emit, texts, labels=header.topology, acts=acts)
        truths = FaultTruths(emit)
        numbers = count(1)
        self._trackers: Mapping[_Kind, Tracker] = {
            (PODS.group, PODS.plural): pods,
            (JOBS.group, JOBS.plural): jobs,
            (NODES.group, NODES.plural): nodes,
            (FAULTS.group, FAULTS.plural): FaultTracker(emit, truths),
            (FAULT_PAGES.group, FAULT_PAGES.plural): FaultPageTracker(truths),
            (REPAIRS.group, REPAIRS.plural): repair_tracker(emit),
            (FAULT_SCHEDULES.group, FAULT_SCHEDULES.plural): schedule_tracker(emit),
            **{
                (each.group, each.plural): GangTracker(emit, each, numbers, labels=header.labels)
                for each in GANG_KINDS
            },
        }
        self._objects: dict[_Key, dict[str, Json]] = {}
        self._last = 0

    def begin(self) -> None:
        """Take what follows for a part of the run."""
        for tracker in self._trackers.values():
            tracker.begin()
        self.history.take(RunMoment(0, "begin"))

    def end(self) -> None:
        """Note the end."""
        if not self.history.fleet.nodes:
            self.history.header.missing["nodes"] = "the recording has no nodes"
        known = {each.kind for each in self.history.gangs.objects.values()}
        for each in GANG_KINDS:
            if each.name not in known:
                self.history.header.missing[each.name] = f"the recording has no {each.name}"
        self.history.take(RunMoment(self._last, "end"))

    def take(self, action: RecordedAction) -> None:
        """Apply a change; UnknownPatchError for a patch that makes no sense."""
        target, time = action.target, action.duration_nanosecond
        key = (_kind_of(action), target.namespace, target.name)
        self._last = max(self._last, time)
        if action.method is Method.DELETE:
            gone = self._objects.pop(key, None)
            if gone is not None:
                self._trackers[key[0]].gone(gone["metadata"]["uid"], time)
            return
        value = action.template or {}
        if action.method is Method.PATCH:
            schema = lists_of_kind(action.resource.api_version, _KINDS[key[0]])
            value = directed_merge(self._objects.get(key, {}), value, schema)
        self.see(key, value, time, listed=False)

    def see(self, key: _Key, value: dict[str, Json], time: int, *, listed: bool) -> None:
        """Show an object to the tracker of its kind."""
        self._objects[key] = value
        tracker, raw = self._trackers[key[0]], msgspec.json.encode(value)
        tracker.see(tracker.decode(raw), raw, time, listed=listed)
