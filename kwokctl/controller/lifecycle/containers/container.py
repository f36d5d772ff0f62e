"""One container of a pod: what its status says of its past, and what comes next.

Nothing is remembered but the back-off: a controller that takes a pod over reads the rest from the
status. Times in it are whole seconds, as the API stores them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kwokctl.controller.lifecycle.containers import restarts
from kwokctl.controller.lifecycle.containers.container_ending import Ending
from kwokctl.controller.lifecycle.containers.container_program import SIGKILL, ContainerProgram
from kwokctl.controller.lifecycle.containers.container_states import (
    BEFORE,
    INIT,
    ReportedContainer,
    back_off_state,
    ended_state,
    first_state,
    lost_state,
    unknown_state,
)
from kwokctl.controller.lifecycle.containers.probes import ALL_WELL, ProbeFindings
from kwokctl.controller.lifecycle.containers.pulling import (
    PullBlock,
    events_of,
    message_of,
    pull_state,
    pulled,
    shown_reason,
)
from kwokctl.controller.lifecycle.containers.spoilt_program import ProgramSpoiler
from kwokctl.controller.lifecycle.moments import read_moment, write_moment
from kwokctl.controller.stages.identifiers import RUNTIME, container_id, image_id
from kwokctl.expr.gotemplate.symbols import deferring
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import is_sidecar

NEVER = math.inf
_BLUR = 1e-6
"""Seconds that a due time may be early: what is added to a time stamp is rounded."""
_PRESENT = ContainerProgram()
"""The program of a container whose image is there already."""
_container_id = deferring(container_id)


@dataclass(slots=True, kw_only=True)
class PodContainer(ReportedContainer):
    """A container, and how far it has come."""

    program: ContainerProgram
    policy: str
    """The restart policy of its pod."""
    status: dict[str, Any]
    grace: float = 30.0
    """Seconds from the signal to end until it is killed."""
    replaced_at: float | None = None
    """The time of the signal to end that it got in order to start with other resources."""
    level: int = 0
    """The number of starts that its back-off counts."""
    awake: float = 0.0
    """Since when its kubelet has been there, if that was away: it has started and stopped nothing before."""
    due: float = NEVER
    """The time of its next change."""
    probes: ProbeFindings = ALL_WELL
    spoiler: ProgramSpoiler | None = None
    """The faults that its program suffers, if there are any."""
    block: PullBlock | None = None
    """The time in which its image cannot be pulled, if there is one."""
    name: str = field(init=False)
    is_init: bool = field(init=False)
    is_sidecar: bool = field(init=False)
    """Whether it runs beside the others though it is an init container."""

    def __post_init__(self) -> None:
        self.name = self.spec["name"]
        self.is_init = self.part is INIT
        self.is_sidecar = self.is_init and is_sidecar(self.spec)

    @property
    def running(self) -> Json:
        """Its state if it runs, else None."""
        return self.status["state"].get("running")

    @property
    def ended(self) -> Json:
        """Its state if it has ended, else None."""
        return self.status["state"].get("terminated")

    @property
    def last_end(self) -> Json:
        """Its last end, whether it waits for its next start or not; else None.

        None if it waits for its turn: its pod begins, or is restarted as a whole.
        """
        state = self.status["state"]
        if "terminated" in state:
            return state["terminated"]
        if "waiting" in state and state["waiting"]["reason"] in BEFORE:
            return None
        return (self.status.get("lastState") or {}).get("terminated")

    @property
    def has_tried(self) -> bool:
        """Whether it has run, or its image could not be pulled: its pod has an address then."""
        return bool(self.running or self.last_end or self.awaits_image)

    @property
    def awaits_image(self) -> bool:
        """Whether its image could not be pulled, if it has not run yet."""
        waiting = self.status["state"].get("waiting") or {}
        return "reason" in waiting and waiting["reason"] not in BEFORE

    @property
    def is_over(self) -> bool:
        """Whether it has ended and is not started again."""
        end = None if self.running else self.last_end
        return end is not None and not self._restarts(end["exitCode"])

    @property
    def is_done(self) -> bool:
        """Whether the next init container may start."""
        if self.is_sidecar:
            return bool(self.running and self.status.get("started"))
        return self.ended is not None and self.ended["exitCode"] == 0

    @property
    def done_at(self) -> float:
        """The time at which it was done."""
        if self.is_sidecar:
            return read_moment(self.running["startedAt"]) + self.probes.started
        return read_moment(self.ended["finishedAt"])

    def advance(self, now: float, since: float | None) -> None:
        """Advance the container to now; `since` is when it may start for the first time, None: not yet."""
        self.due = NEVER
        if self.running and self._is_outdated():
            self._change(now)
        elif self.running:
            self._run_on(now)
        elif self.last_end:
            self._return(now, self.last_end)
        elif since is not None:
            self._arrive(now, since)

    def stop(self, now: float, at: float, grace: float) -> None:
        """End it if its time after a signal at `at` is over by now; else it is due then."""
        self.due = NEVER
        if not self.running:
            return
        end, code = self._ending.after_signal(at, grace)
        if now < end:
            self.due = end
            return
        self._end(end, code)

    @property
    def _ending(self) -> Ending:
        started_at = read_moment(self.running["startedAt"])
        return Ending(self._run_of(started_at), self.spec, started_at, self.status["restartCount"])

    def _run_of(self, started_at: float) -> ContainerProgram:
        """Return what its program does in the run that started at a time."""
        if self.spoiler is None:
            return self.program
        return self.spoiler.program(self.program, started_at)

    @property
    def restarts_all(self) -> bool:
        """Whether its end has all containers of its pod restarted."""
        end = self.ended
        return end is not None and restarts.action_after(self.spec, end["exitCode"]) == restarts.ALL

    def kill(self, at: float) -> None:
        """End it at once, without its hook and its time to end."""
        self.due = NEVER
        if self.running:
            self.note_stopping()
            self._end(at, SIGKILL)

    def is_lost(self, at: float) -> bool:
        """Return whether it ran when its node was rebooted; times are whole seconds."""
        return bool(self.running) and read_moment(self.running["startedAt"]) < int(at)

    def lose(self, at: float) -> None:
        """End it as a container runtime finds it after a reboot of its machine, without a back-off."""
        if self.is_lost(at):
            self.level = 0
            self.status["state"] = unknown_state(self.status, at)
            self.status["ready"] = self.status["started"] = False

    def begin_anew(self, *, has_init: bool) -> None:
        """Make it wait for its turn as in a new pod, with one more restart."""
        self.due = NEVER
        if (end := self.last_end) is not None:
            self.status["lastState"] = {"terminated": dict(end)}
            self.status["restartCount"] += 1
            self.level = 0
        self.status["state"] = first_state(has_init=has_init)
        self.status["ready"] = self.status["started"] = False

    def note_stopping(self) -> None:
        """Report that it has got the signal."""
        if self.running:
            self.report("Killing", f"Stopping container {self.name}")

    def give_up(self) -> None:
        """Report its end with an unknown exit code."""
        if self.ended is None:
            self.status["state"] = lost_state()
            self.status["ready"] = self.status["started"] = False

    def _restarts(self, exit_code: int) -> bool:
        if self.is_init and not self.is_sidecar:
            return restarts.restarts_init(self.spec, self.policy, exit_code)
        return restarts.restarts(self.spec, self.policy, exit_code)

    def _arrive(self, now: float, since: float) -> None:
        """Pull the image and start."""
        pull = _PRESENT if self.status["restartCount"] else self.program
        state = pull_state(pull, self._when_awake(since) + self.program.start, now, self.block)
        image, block = self.spec.get("image", ""), self.block
        if state.is_done:
            # A kubelet that has just come remembers no back-off: it pulls at once what could not be pulled before.
            had_failed = self.awaits_image and not pull.pull_failures
            self.report_all(pulled(pull, image, had_failed=had_failed))
            self._start(now if had_failed and block is None else state.until)
            return
        before = self.status["state"]["waiting"]["reason"]
        reason = shown_reason(state.reason, block)
        if reason and reason != before:
            self.report_all(events_of(state.reason, image, block))
            message = message_of(state.reason, image, block)
            self.status["state"] = {"waiting": {"reason": reason, "message": message}}
        self.due = state.until

    def _run_on(self, now: float) -> None:
        started_at = read_moment(self.running["startedAt"])
        self._report_probes(now, started_at)
        if self.replaced_at is not None:
            self._replace(now, self.replaced_at)
            return
        grace = self.grace if self.probes.grace is None else self.probes.grace
        killed_at = self._when_awake(started_at + self.probes.killed)
        ending = self._ending
        end, code = ending.by_itself(killed_at, grace)
        if now >= end:
            is_killed = end >= killed_at
            self._end(end, code)
            if is_killed:
                self._return(now, self.ended, is_killed=True)
            else:
                self.ended.update(ending.program.last_words(code))
                self._report_wrong(started_at, code)
                self.due = now
            return
        after = now - started_at + _BLUR
        self.status["started"] = after >= self.probes.started
        can_be_ready = self.is_sidecar or not self.is_init
        self.status["ready"] = can_be_ready and self.probes.is_ready(after)
        self.due = min(end, started_at + self.probes.next_change(after))
        if self.spoiler is not None:
            self.due = min(self.due, self.spoiler.due)

    def _report_wrong(self, started_at: float, code: int) -> None:
        """Report that a program has succeeded, and its result is wrong."""
        fault = self.spoiler.is_wrong(started_at) if self.spoiler is not None and not code else ""
        if fault:
            words = f"The result of container {self.name} is wrong, by fault '{fault}'"
            self.report("WrongResult", words, "Warning")

    def _is_outdated(self) -> bool:
        """Return whether its last run was of another image, if that run was one of ours."""
        if self.status["image"] == self.spec.get("image", "") or (
            self.is_init and not self.is_sidecar
        ):
            return False
        identifier: str = self.status.get("containerID") or ""
        return identifier.startswith(f"{RUNTIME}://")

    def _change(self, now: float) -> None:
        """Start the image that its spec names now, whatever its policy."""
        self.report_killing("definition changed, will be restarted")
        _, code = self._ending.after_signal(now, 0.0)
        self._end(now, code)
        self.level = 0
        self._start_again(now, self.ended)

    def _replace(self, now: float, at: float) -> None:
        """End it after a signal and start it again, whatever its policy."""
        self.stop(now, at, self.grace)
        if (end := self.ended) is not None:
            self.replaced_at = None
            self.status.pop("resources", None)
            self._start_again(read_moment(end["finishedAt"]), end)

    def _report_probes(self, now: float, started_at: float) -> None:
        """Report the probes that have failed since the last time."""
        if self.probes is ALL_WELL:
            return
        before, after = self.reported - started_at + _BLUR, now - started_at + _BLUR
        for message in self.probes.failures(before, after):
            self.report("Unhealthy", message, "Warning")
        if before < self.probes.killed <= after:
            self.report_killing(f"failed {self.probes.killer} probe, will be restarted")

    def _return(self, now: float, end: Mapping[str, Any], *, is_killed: bool = False) -> None:
        """Start it again after an end, when its back-off is over.

        One that is killed for its probes is started in the same moment, and without a back-off the
        first two times: a kubelet looks then at how the run before has ended.
        """
        if not self._restarts(end["exitCode"]):
            return
        if self._is_outdated():  # the back-off is that of an image
            self.level = 0
            self._start_again(now, end)
            return
        finished, ran = read_moment(end["finishedAt"]), restarts.ran(end)
        wait = restarts.pause(self.level, ran)
        begin = self._when_awake(finished + wait)
        shown = begin - restarts.shown(wait, throughout=self.program.shows_back_off)
        if now >= begin:
            is_first = is_killed and self.status["restartCount"] == 0
            self.level = 0 if is_first else restarts.level_after(self.level, ran)
            self._start_again(begin, end)
            return
        if is_killed or now >= shown:
            self._back_off(end, wait)
        self.report_back_off(now, finished + restarts.END_SHOWN)
        moments = (finished + restarts.END_SHOWN, shown, begin)
        self.due = next(moment for moment in moments if moment > now)

    def _when_awake(self, at: float) -> float:
        """Return when its kubelet does what is due at a time."""
        return max(at, self.awake) if self.awake else at

    def _start_again(self, at: float, end: Mapping[str, Any]) -> None:
        self.status["lastState"] = {"terminated": dict(end)}
        self.status["restartCount"] += 1
        self.report_all(pulled(_PRESENT, self.spec.get("image", "")))
        self._start(at)

    def _back_off(self, end: Mapping[str, Any], wait: float) -> None:
        words = f"back-off {restarts.written(wait)} restarting failed container={self.name} pod="
        message = self.about_pod(words)
        self.status["lastState"] = {"terminated": dict(end)}
        self.status["state"] = back_off_state(message)

    def _start(self, at: float) -> None:
        uid, count = self.pod["uid"], self.status["restartCount"]
        run = self.name if count == 0 else f"{self.name}#{count}"
        self.status["containerID"] = _container_id(uid, run)
        self.status["image"] = self.spec.get("image", "")
        self.status["imageID"] = image_id(self.spec.get("image", ""))
        self.status["state"] = {"running": {"startedAt": write_moment(at)}}
        self.report_start()
        self.due = NEVER
        self._run_on(at)

    def _end(self, at: float, code: int) -> None:
        is_killed = self.program.is_killed and code == SIGKILL
        self.status["state"] = ended_state(self.status, at, code, has_no_memory=is_killed)
        is_complete = self.is_init and not self.is_sidecar and code == 0
        self.status["ready"], self.status["started"] = is_complete, False
