"""The history that the lines of a record tell, from which figures are computed.

It is built line by line, so that a run knows while it goes on what its report will say.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from kwokctl.fleet.gangs import JOBS
from kwokctl.measure.histories.fault_history import FaultHistory
from kwokctl.measure.histories.fleet_history import FleetHistory
from kwokctl.measure.histories.gang_history import GangHistory
from kwokctl.measure.histories.incident_history import IncidentHistory
from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.histories.plane_history import PlaneHistory
from kwokctl.measure.record.record_lines import (
    ApiProbe,
    Behind,
    Gap,
    Header,
    JobChange,
    JobGone,
    JobSeen,
    Lines,
    Milestone,
    PodChange,
    PodGone,
    PodSeen,
    PodShape,
    RecordText,
    RunMoment,
    Sent,
)

RUN_LABEL = "kwokctl.dev/run"
LOAD_LABEL = "kwokctl.dev/load"
_ENDED = ("Succeeded", "Failed")
_NO_SHAPE = PodShape(0, "", "", "", 0, "", {})


class PodHistory(msgspec.Struct, gc=False, kw_only=True):
    """The times at which a pod has reached its states; None for those that it was not seen to reach."""

    uid: str
    namespace: str
    name: str
    shape: PodShape
    seen: int
    """The time at which it was seen first."""
    created: int | None
    bound: int | None = None
    running: int | None = None
    ready: int | None = None
    ended: int | None = None
    going: int | None = None
    gone: int | None = None
    node: str = ""
    phase: str = ""
    at_first: tuple[str, ...] = ()
    """The states in which the pod was first seen: the times are not known."""
    message: int = 0
    """The text why it cannot be scheduled now."""
    last_message: int = 0
    """The last such text, also of a pod that was placed in the end."""
    attempts: int = 0
    """The number of times that another text has come."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is expected of it: it runs, has ended, or is gone."""
        if self.gone is not None or self.phase in _ENDED:
            return True
        return self.going is None and bool(self.node) and self.phase == "Running"


class Gaps:
    """The times of which it is not known when things happened, of one kind."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._begins: list[int] = []

    def add(self, gap: Gap) -> None:
        """Add one; they come in the order of their ends."""
        self._ends.append(gap.end)
        self._begins.append(gap.begin)

    def __len__(self) -> int:
        return len(self._ends)

    def hold(self, time: int) -> bool:
        """Return whether what was received at a time may have happened earlier."""
        place = bisect_left(self._ends, time)
        return place < len(self._ends) and self._begins[place] < time


class History:
    """All that a record says."""

    def __init__(self, header: Header) -> None:
        """Begin without anything but the header."""
        self.header = header
        self.pods: dict[int, PodHistory] = {}
        self.jobs: dict[int, ObjectHistory] = {}
        self.jobs_by_uid: dict[str, ObjectHistory] = {}
        self.texts: dict[int, str] = {0: ""}
        self.fleet = FleetHistory(self.texts)
        self.plane = PlaneHistory(self.texts)
        self.arrivals: list[Sent] = []
        self.arrival_of: dict[str, Sent] = {}
        """By the uid of what it has made."""
        self.probes: list[ApiProbe] = []
        self.milestones: list[Milestone] = []
        self.gangs = GangHistory()
        self.faults = FaultHistory()
        self.incidents = IncidentHistory(self.texts, header.wall)
        self.gaps: dict[str, Gaps] = {}
        self.behind = 0
        """The longest time that something waited."""
        self.moments: dict[str, RunMoment] = {}
        self.is_cut = False
        """Whether the end of the record is missing."""
        self.last_change = 0
        """The time at which an object of the run changed last."""
        self._shapes: dict[int, PodShape] = {}
        self._ready: set[int] = set()
        """The numbers of texts with the conditions of pods that are Ready."""
        self._open_pods: set[int] = set()
        self._open_jobs: set[int] = set()
        self._takers: dict[type, Callable[[Any], None]] = {
            RecordText: self._text,
            PodShape: self._shape,
            PodSeen: self._pod_seen,
            PodChange: self._pod_change,
            PodGone: self._pod_gone,
            JobSeen: self._job_seen,
            JobChange: self._job_change,
            JobGone: self._job_gone,
            Milestone: self.milestones.append,
            Sent: self._sent,
            ApiProbe: self.probes.append,
            Gap: self._gap,
            Behind: self._behind,
            RunMoment: self._moment,
            **self.fleet.takers,
            **self.gangs.takers,
            **self.faults.takers,
            **self.incidents.takers,
            **self.plane.takers,
        }

    @classmethod
    def of(cls, header: Header, lines: Iterable[Lines]) -> "History":
        """Return what these lines say."""
        history = cls(header)
        for line in lines:
            history.take(line)
        return history

    def take(self, line: Lines) -> None:
        """Add a line."""
        self._takers[type(line)](line)

    @property
    def begin(self) -> int:
        """The time at which everything was watched."""
        found = self.moments.get("begin")
        return found.time if found else 0

    @property
    def end(self) -> int:
        """The time at which it ended; while it goes on, that of the last change."""
        found = self.moments.get("end")
        return found.time if found else max(self.begin, self.last_change, self.incidents.last)

    def open_pods(self) -> Iterator[PodHistory]:
        """Yield the recorded pods of which more is expected, of the run or not."""
        return (self.pods[number] for number in self._open_pods)

    def open_jobs(self) -> Iterator[ObjectHistory]:
        """Yield the recorded Jobs of which more is expected, of the run or not."""
        return (self.jobs[number] for number in self._open_jobs)

    def pods_of_run(self) -> Iterator[PodHistory]:
        """Yield the pods that count."""
        return (pod for pod in self.pods.values() if self.has_pod(pod))

    def jobs_of_run(self) -> Iterator[ObjectHistory]:
        """Yield the Jobs that count."""
        return (job for job in self.jobs.values() if self.has_job(job))

    def has_pod(self, pod: PodHistory) -> bool:
        """Return whether a pod is of the run: by its label, or by its owner."""
        run = self.header.scope.run
        if not run or pod.shape.labels.get(RUN_LABEL) == run or pod.uid in self.arrival_of:
            return True
        owner = self.jobs_by_uid.get(pod.shape.owner_uid)
        if owner is not None:
            return self.has_job(owner)
        return pod.shape.owner_uid in self.arrival_of

    def has_job(self, job: ObjectHistory) -> bool:
        """Return whether a Job, or another object that makes pods, is of the run."""
        run = self.header.scope.run
        return (
            not run
            or job.labels.get(RUN_LABEL) == run
            or job.uid in self.arrival_of
            or job.owner_uid in self.arrival_of
        )

    def arrival(self, uid: str, owner_uid: str) -> Sent | None:
        """Return the arrival that has made an object or its owner; None if no load has."""
        found = self.arrival_of.get(uid) or self.arrival_of.get(owner_uid)
        if found is None and (job := self.jobs_by_uid.get(owner_uid)):
            found = self.arrival_of.get(job.owner_uid)
        return found

    def _text(self, line: RecordText) -> None:
        self.texts[line.number] = line.text
        if "Ready" in line.text.split(","):
            self._ready.add(line.number)

    def _shape(self, line: PodShape) -> None:
        self._shapes[line.number] = line

    def _pod_seen(self, line: PodSeen) -> None:
        pod = PodHistory(
            uid=line.uid,
            namespace=line.namespace,
            name=line.name,
            shape=self._shapes.get(line.shape, _NO_SHAPE),
            seen=line.time,
            created=None if line.listed else line.time,
        )
        self.pods[line.number] = pod
        self._follow(pod, line)
        self._settle(line.number, pod)
        reached = ("bound", "running", "ready", "ended")
        pod.at_first = tuple(name for name in reached if getattr(pod, name) is not None)
        for name in pod.at_first:
            setattr(pod, name, None)

    def _pod_change(self, line: PodChange) -> None:
        pod = self.pods[line.number]
        self._follow(pod, line)
        if line.going and pod.going is None:
            pod.going = line.time
        if line.message and line.message != pod.message:
            pod.attempts += 1
            pod.last_message = line.message
        pod.message = line.message
        self._settle(line.number, pod)

    def _settle(self, number: int, pod: PodHistory) -> None:
        (self._open_pods.discard if pod.is_settled else self._open_pods.add)(number)

    def _follow(self, pod: PodHistory, line: PodSeen | PodChange) -> None:
        """Note which states a pod has reached for the first time."""
        time, seen = line.time, pod.at_first
        if line.node and pod.bound is None and "bound" not in seen:
            pod.bound = time
        if line.phase == "Running" and pod.running is None and "running" not in seen:
            pod.running = time
        elif line.phase in _ENDED and pod.ended is None and "ended" not in seen:
            pod.ended = time
        if pod.ready is None and "ready" not in seen and line.conditions in self._ready:
            pod.ready = time
        pod.node, pod.phase = line.node, line.phase
        if self.has_pod(pod):
            self.last_change = time

    def _pod_gone(self, line: PodGone) -> None:
        pod = self.pods[line.number]
        pod.gone = line.time
        self._open_pods.discard(line.number)
        if self.has_pod(pod):
            self.last_change = line.time

    def _job_seen(self, line: JobSeen) -> None:
        job = ObjectHistory.begun(line, JOBS)
        self.jobs[line.number] = job
        self.jobs_by_uid[line.uid] = job
        self._note_job(line.number, job, line.time)

    def _job_change(self, line: JobChange) -> None:
        job = self.jobs[line.number]
        job.follow(line)
        self._note_job(line.number, job, line.time)

    def _job_gone(self, line: JobGone) -> None:
        job = self.jobs[line.number]
        job.gone = line.time
        self._note_job(line.number, job, line.time)

    def _note_job(self, number: int, job: ObjectHistory, time: int) -> None:
        (self._open_jobs.discard if job.is_settled else self._open_jobs.add)(number)
        if self.has_job(job):
            self.last_change = time

    def _sent(self, line: Sent) -> None:
        self.arrivals.append(line)
        self.last_change = max(self.last_change, line.sent)
        for uid in line.made:
            self.arrival_of[uid] = line

    def _gap(self, line: Gap) -> None:
        self.gaps.setdefault(line.kind, Gaps()).add(line)

    def _behind(self, line: Behind) -> None:
        self.behind = max(self.behind, line.wait)

    def _moment(self, line: RunMoment) -> None:
        self.moments[line.what] = line
