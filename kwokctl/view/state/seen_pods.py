"""The pods that exist now, why some wait, and how many were created, bound, started, ended and deleted."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from kwokctl.measure.record.record_lines import (
    Lines,
    PodChange,
    PodGone,
    PodSeen,
    PodShape,
    RecordText,
)
from kwokctl.measure.watching.pods import MOST_SHAPES
from kwokctl.view.state.forgetting_texts import MOST_TEXTS

PodStep = Literal["created", "bound", "started", "ended", "deleted"]
STEPS: tuple[PodStep, ...] = ("created", "bound", "started", "ended", "deleted")
_ENDED = ("Succeeded", "Failed")
NOT_TRIED = "no scheduler has tried to place it"
NOT_STARTED = "it has a node, which has not started it"


class SeenPod(msgspec.Struct, gc=False, kw_only=True):
    """A pod that exists."""

    namespace: str
    name: str
    requests: str
    """As one text, such as `cpu=1,memory=1Gi`."""
    node: str
    phase: str
    waits_since: int
    """The time in ns at which it was seen first, or got its node."""
    why: str = ""
    """Why it waits; empty if it does not."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and takes nothing of its node any more."""
        return self.phase in _ENDED


Occupy = Callable[[str, str, int], None]
"""Gets the node, the requests, and 1 for a pod that comes, -1 for one that goes."""


class SeenPods:
    """The present state of all pods, by the lines about them."""

    def __init__(self, occupy: Occupy) -> None:
        self.pods: dict[int, SeenPod] = {}
        """By the number of the record."""
        self.phases: Counter[str] = Counter()
        self.waiting: dict[str, dict[int, SeenPod]] = {}
        """By the reason: the pods that wait, those that wait longest first."""
        self.steps: Counter[PodStep] = Counter()
        """The number of times that each was seen since the view began."""
        self.is_complete = False
        """Whether all pods of the first list are known: what comes now, happens now."""
        self._occupy = occupy
        self._texts: dict[int, str] = {0: ""}
        self._shapes: dict[int, PodShape] = {}
        self._takers: Mapping[type, Callable[[Any], None]] = {
            RecordText: self._text,
            PodShape: self._shape,
            PodSeen: self._seen,
            PodChange: self._change,
            PodGone: self._gone,
        }

    def take(self, line: Lines) -> None:
        """Add a line."""
        taker = self._takers.get(type(line))
        if taker is not None:
            taker(line)

    @property
    def waiting_number(self) -> int:
        """The number of pods that wait."""
        return sum(map(len, self.waiting.values()))

    def _text(self, line: RecordText) -> None:
        self._texts[line.number] = line.text
        # Both tables forget: the numbers of texts and shapes grow, and no line has one of so long ago.
        self._texts.pop(line.number - MOST_TEXTS, None)

    def _shape(self, line: PodShape) -> None:
        self._shapes[line.number] = line
        self._shapes.pop(line.number - MOST_SHAPES, None)

    def _seen(self, line: PodSeen) -> None:
        shape = self._shapes[line.shape]
        pod = SeenPod(
            namespace=line.namespace,
            name=line.name,
            requests=shape.requests,
            node="",
            phase="",
            waits_since=line.time,
        )
        self.pods[line.number] = pod
        self._count("created", is_old=line.listed)
        self._follow(line.number, pod, line, message="", is_old=line.listed)

    def _change(self, line: PodChange) -> None:
        pod = self.pods[line.number]
        self._follow(line.number, pod, line, message=self._texts[line.message])

    def _gone(self, line: PodGone) -> None:
        pod = self.pods.pop(line.number)
        self._count("deleted", is_old=False)
        self.phases[pod.phase] -= 1
        self._wait(line.number, pod, "")
        if pod.node and not pod.is_over:
            self._occupy(pod.node, pod.requests, -1)

    def _follow(
        self,
        number: int,
        pod: SeenPod,
        line: PodSeen | PodChange,
        *,
        message: str,
        is_old: bool = False,
    ) -> None:
        held = pod.node if not pod.is_over else ""
        if line.node and not pod.node:
            self._count("bound", is_old=is_old)
            pod.waits_since = line.time
        if line.phase != pod.phase:
            self.phases[pod.phase] -= bool(pod.phase)
            self.phases[line.phase] += 1
            if line.phase == "Running":
                self._count("started", is_old=is_old)
            elif line.phase in _ENDED:
                self._count("ended", is_old=is_old)
        pod.node, pod.phase = line.node, line.phase
        holds = pod.node if not pod.is_over else ""
        if holds != held:
            for node, sign in ((held, -1), (holds, 1)):
                if node:
                    self._occupy(node, pod.requests, sign)
        self._wait(number, pod, _why(pod, message))

    def _wait(self, number: int, pod: SeenPod, why: str) -> None:
        """Note why a pod waits; empty if it does not any more."""
        if pod.why == why:
            return
        if pod.why:
            others = self.waiting[pod.why]
            del others[number]
            if not others:
                del self.waiting[pod.why]
        if why:
            self.waiting.setdefault(why, {})[number] = pod
        pod.why = why

    def _count(self, step: PodStep, *, is_old: bool) -> None:
        if not is_old:
            self.steps[step] += 1


def _why(pod: SeenPod, message: str) -> str:
    if pod.is_over or pod.phase == "Running":
        return ""
    if pod.node:
        return NOT_STARTED
    return message or NOT_TRIED
