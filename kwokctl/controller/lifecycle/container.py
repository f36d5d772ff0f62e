"""One container of a pod: what its status says of its past, and what comes next.

Nothing is remembered but the back-off: a controller that takes a pod over reads the rest from the
status. Times in it are whole seconds, as the API stores them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kwokctl.controller.lifecycle import restarts
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.program import SIGKILL, ContainerProgram
from kwokctl.controller.stages.identifiers import container_id, image_id
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.json_value import Json

NEVER = math.inf
_SHOWN = 0.2
"""Seconds before a start in which kubelet 1.36 shows CrashLoopBackOff instead of the end."""
_PULL_ERROR_SHOWN = 2.0
"""Seconds after a failed pull in which its error is shown, before the back-off is."""
_UNKNOWN = {
    "exitCode": SIGKILL,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was terminated",
}
"""What a container ends with that has never run when its pod ends."""


@dataclass(slots=True, kw_only=True)
class PodContainer:
    """A container, and how far it has come."""

    spec: Mapping[str, Any]
    program: ContainerProgram
    pod: Mapping[str, Any]
    """The metadata of its pod."""
    policy: str
    """The restart policy of its pod."""
    status: dict[str, Any]
    is_init: bool = False
    level: int = 0
    """How many starts its back-off counts."""
    due: float = NEVER
    """When something happens to it next."""
    events: list[PodEvent] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.spec["name"])

    @property
    def is_sidecar(self) -> bool:
        """Whether it runs beside the others though it is an init container."""
        return self.is_init and restarts.is_sidecar(self.spec)

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
        """How it has ended the last time, whether it waits for its next start or not; else None."""
        return self.ended or (self.status.get("lastState") or {}).get("terminated")

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
        """When that was."""
        if self.is_sidecar:
            return parse_time(self.running["startedAt"]) + self.program.started
        return parse_time(self.ended["finishedAt"])

    def advance(self, now: float, since: float | None) -> None:
        """Let happen what is due; `since` is when it may start for the first time, None: not yet."""
        self.due = NEVER
        if self.running:
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
        end = at + min(self.program.stop, grace)
        if now < end:
            self.due = end
            return
        self._end(end, SIGKILL if self.program.stop > grace else 0)

    def note_stopping(self) -> None:
        """Report that it has got the signal."""
        if self.running:
            self.events.append(self._event("Killing", f"Stopping container {self.name}"))

    def give_up(self) -> None:
        """Say that it has ended though it is not known how."""
        if self.ended is None:
            self.status["state"] = {"terminated": dict(_UNKNOWN)}
            self.status["ready"] = self.status["started"] = False

    def _restarts(self, exit_code: int) -> bool:
        if self.is_init and not self.is_sidecar:
            return exit_code != 0 and restarts.restarts(self.spec, self._init_policy, exit_code)
        return restarts.restarts(self.spec, self.policy, exit_code)

    @property
    def _init_policy(self) -> str:
        """An init container that has succeeded is not run again, whatever the pod's policy."""
        return "OnFailure" if self.policy == "Always" else self.policy

    def _arrive(self, now: float, since: float) -> None:
        """Pull the image and start; failures of the first follow from the time alone."""
        waiting = {"reason": self.status["state"]["waiting"]["reason"]}
        next_at = since + self.program.pull
        for back_off in self._failed_pulls():
            if now < next_at:
                break
            backs_off_at = next_at + _PULL_ERROR_SHOWN
            waiting = self._pull_error(is_backing_off=now >= backs_off_at)
            next_at = backs_off_at if now < backs_off_at else next_at + back_off
            if now < backs_off_at:
                break
        else:
            next_at += self.program.start
            if now >= next_at:
                self._note_created()
                self._start(next_at)
                return
        self.status["state"] = {"waiting": waiting}
        self.due = next_at

    def _failed_pulls(self) -> Iterator[float]:
        """Yield the seconds to wait after each pull that fails; endless if all do."""
        failures = self.program.pull_failures
        number = 0
        while number < failures or failures < 0:
            yield min(restarts.FIRST * 2.0 ** min(number, 10), restarts.LONGEST)
            number += 1

    def _pull_error(self, *, is_backing_off: bool) -> dict[str, str]:
        image = self.spec.get("image", "")
        if is_backing_off:
            return {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}
        return {"reason": "ErrImagePull", "message": f'failed to pull image "{image}"'}

    def _note_created(self) -> None:
        image = self.spec.get("image", "")
        text = f'Container image "{image}" already present on machine'
        self.events.append(self._event("Pulled", text))

    def _run_on(self, now: float) -> None:
        started_at = parse_time(self.running["startedAt"])
        if self.program.run is not None:
            end = started_at + self.program.run
            if now >= end:
                self._end(end, self.program.exit_code(self.status["restartCount"]))
                self.due = now
                return
            self.due = end
        self._probe(now, started_at)

    def _probe(self, now: float, started_at: float) -> None:
        moments = started_at + self.program.started, started_at + self.program.ready
        self.status["started"], self.status["ready"] = (now >= moment for moment in moments)
        self.due = min([self.due, *(moment for moment in moments if moment > now)])

    def _return(self, now: float, end: Mapping[str, Any]) -> None:
        """Start it again after an end, when its back-off is over."""
        if not self._restarts(end["exitCode"]):
            return
        finished, ran = parse_time(end["finishedAt"]), _ran(end)
        wait = restarts.pause(self.level, ran)
        begin = finished + wait
        if now >= begin:
            self.level = restarts.level_after(self.level, ran)
            self.status["lastState"] = {"terminated": dict(end)}
            self.status["restartCount"] += 1
            self._note_created()
            self._start(begin)
        elif now >= begin - _SHOWN:
            self._back_off(end, wait)
            self.due = begin
        else:
            self.due = begin - _SHOWN

    def _back_off(self, end: Mapping[str, Any], wait: float) -> None:
        pod = f"{self.pod['name']}_{self.pod['namespace']}({self.pod['uid']})"
        if self.ended is not None:
            text = f"Back-off restarting failed container {self.name} in pod {pod}"
            self.events.append(self._event("BackOff", text, type_="Warning"))
        message = f"back-off {_go(wait)} restarting failed container={self.name} pod={pod}"
        self.status["lastState"] = {"terminated": dict(end)}
        self.status["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}

    def _start(self, at: float) -> None:
        uid, count = self.pod["uid"], self.status["restartCount"]
        run = self.name if count == 0 else f"{self.name}#{count}"
        self.status["containerID"] = container_id(uid, run)
        self.status["imageID"] = image_id(self.spec.get("image", ""))
        self.status["state"] = {"running": {"startedAt": format_time(int(at))}}
        self.events.append(self._event("Created", "Container created"))
        self.events.append(self._event("Started", "Container started"))
        self.due = NEVER
        self._run_on(at)

    def _end(self, at: float, code: int) -> None:
        killed = self.program.is_killed and code == SIGKILL
        self.status["state"] = {
            "terminated": {
                "exitCode": code,
                "reason": "OOMKilled" if killed else "Error" if code else "Completed",
                "startedAt": self.running["startedAt"],
                "finishedAt": format_time(int(at)),
                "containerID": self.status["containerID"],
            }
        }
        is_complete = self.is_init and not self.is_sidecar and code == 0
        self.status["ready"], self.status["started"] = is_complete, False

    def _event(self, reason: str, message: str, type_: str = "Normal") -> PodEvent:
        part = "initContainers" if self.is_init else "containers"
        return PodEvent(
            type=type_, reason=reason, message=message, field=f"spec.{part}{{{self.name}}}"
        )


def _ran(end: Mapping[str, Any]) -> float:
    return (
        parse_time(end["finishedAt"]) - parse_time(end["startedAt"]) if "startedAt" in end else 0.0
    )


def _go(seconds: float) -> str:
    """Write seconds as Go does: 10s, 1m20s, 5m0s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
