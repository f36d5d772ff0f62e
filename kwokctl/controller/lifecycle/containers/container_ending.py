"""Computes the end of a running container, and its exit code: by itself, after a signal, or killed."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from kwokctl.controller.lifecycle.containers.container_commands import read_words
from kwokctl.controller.lifecycle.containers.container_program import SIGKILL, ContainerProgram
from kwokctl.json_value import Json


class Ending(msgspec.Struct, frozen=True):
    """The end of one run of a container. Times are seconds since 1970."""

    program: ContainerProgram
    spec: Mapping[str, Json]
    started_at: float
    restarts: int

    def by_itself(self, killed_at: float, grace: float) -> tuple[float, int]:
        """Return when it ends and with which code, if its probes have it killed at a time."""
        end = killed_at + min(self._stopping, grace)
        done = self._done
        if done is not None and done <= end:
            return done, self._own_code
        return end, self._code_of_stop(grace)

    def after_signal(self, at: float, grace: float) -> tuple[float, int]:
        """Return when it ends and with which code after the signal to end."""
        end = at + min(self._stopping, grace)
        done = self._done
        if self.program.ignores_signals and done is not None and done <= end:
            return done, self._own_code
        return end, self._code_of_stop(grace)

    @property
    def _done(self) -> float | None:
        run = self.program.run
        return None if run is None else self.started_at + run

    @property
    def _own_code(self) -> int:
        return self.program.exit_code(self.restarts)

    def _code_of_stop(self, grace: float) -> int:
        return SIGKILL if self._stopping > grace else self.program.stop_code

    @property
    def _stopping(self) -> float:
        """The seconds that its hook and its program take to stop."""
        hook = (self.spec.get("lifecycle") or {}).get("preStop")
        return self.program.stop + (_length(hook) if hook else 0.0)


def _length(hook: Mapping[str, Any]) -> float:
    """Return how long a hook takes: as it says, or as its command does if that can be read."""
    if "exec" in hook:
        program = read_words(hook["exec"].get("command") or ())
        return 0.0 if program is None else math.inf if program.run is None else program.run
    return float((hook.get("sleep") or {}).get("seconds") or 0)
