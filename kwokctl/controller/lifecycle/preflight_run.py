"""The program of an init container that checks its node, or all nodes of its gang, before they train. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.containers.spoilt_program import ProgramSpoiler
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.replacing import replace
from kwokctl.training.check_times import CheckTime, together
from kwokctl.training.preflight import REASON, CheckKind, expected_bandwidth

_LATER = 3600.0
"""Seconds until a look at a pod that waits for others: it is known until then, and looked at when they have come."""


class NodeHit(msgspec.Struct, frozen=True):
    """A fault that a check finds."""

    node: str
    hit: WorkloadHit


class GangChecks(msgspec.Struct, frozen=True, kw_only=True):
    """All that the checks of a pod depend on, beside the pod."""

    checks: dict[str, CheckKind]
    """By the names of its init containers."""
    timeout: float
    """Seconds after which a check fails that waits for the other nodes."""
    product: str
    """The name of the GPUs of its node; empty if it is not known."""
    size: int
    """The number of pods of the gang; 0 if it is not known yet."""
    runs: dict[str, list[CheckTime]]
    """The times at which these containers ran, in all pods of the gang that have reached them."""
    own: Sequence[NodeHit]
    """The faults of its own node and GPUs."""
    others: Sequence[NodeHit]
    """Those of the other pods of the gang."""

    def run_of(self, name: str, now: float, faults: ProgramSpoiler | None) -> "PreflightRun | None":
        """Return the check of an init container; None if it is none."""
        if name not in self.checks:
            return None
        return PreflightRun(checks=self, name=name, now=now, faults=faults)


@dataclass(slots=True, kw_only=True)
class PreflightRun:
    """One check while it is looked at, beside the faults of its pod."""

    checks: GangChecks
    name: str
    now: float
    faults: ProgramSpoiler | None = None
    due: float = math.inf

    def program(self, program: ContainerProgram, started: float) -> ContainerProgram:
        """Return what its program does in the run that started at a time."""
        if self.faults is not None:
            program = self.faults.program(program, started)
            self.due = self.faults.due
        if program.exit_code(0):
            return program  # a fault of the pod itself, or its own words, let it fail
        checks, kind = self.checks, self.checks.checks[self.name]
        limit = started + checks.timeout
        gang = together(self.checks.runs.get(self.name, ()), checks.size, started)
        begin = started if kind == "loopback" else gang.since
        if begin is None:
            self.due = min(self.due, self.now + _LATER, limit)
            if self.now < limit:
                return replace(program, run=None)
            words = f"timed out: {gang.most} of {checks.size} ranks were there"
            return _failed(program, checks.timeout, words)
        if program.run is None:
            return program
        end = max(begin, started) + program.run
        found = (*checks.own, *(checks.others if kind == "all-reduce" else ()))
        hits = [each for each in found if each.hit.begins(started) <= end]
        if not hits:
            return replace(program, run=end - started, message=self._passed(kind))
        return self._spoilt(program, hits, (started, end, limit))

    def is_wrong(self, started: float) -> str:
        """Return which fault has made the result of a run wrong: none, because a check finds that."""
        return ""

    def _spoilt(
        self, program: ContainerProgram, hits: Sequence[NodeHit], times: tuple[float, float, float]
    ) -> ContainerProgram:
        started, end, limit = times
        nodes = ", ".join(dict.fromkeys(each.node for each in hits))
        hung = [each for each in hits if each.hit.effect.effect == "hang"]
        failed = [each.hit.begins(started) for each in hits if each.hit.effect.effect == "fail"]
        if failed:
            at = min(end, *failed)
            return _failed(program, at - started, f"nccl checking failed on {nodes}")
        if hung:
            return _failed(program, limit - started, f"timed out: no answer from {nodes}")
        factor = max(each.hit.effect.factor for each in hits)
        if all(each.hit.effect.effect == "corrupt" for each in hits):
            return _failed(
                program, end - started, f"nccl checking failed: wrong values from {nodes}"
            )
        expected = expected_bandwidth(self.checks.product, self.checks.checks[self.name])
        words = f"nccl checking failed: {factor:g} times too slow on {nodes}"
        if expected is not None:
            words += f"; avg bus bandwidth {expected / factor:.1f} GB/s, expected {expected:g}"
        return _failed(program, end - started, words)

    def _passed(self, kind: CheckKind) -> str:
        expected = expected_bandwidth(self.checks.product, kind)
        return "" if expected is None else f"avg bus bandwidth {expected:g} GB/s"


def _failed(program: ContainerProgram, run: float, message: str) -> ContainerProgram:
    return replace(
        program, run=max(0.0, run), exit_codes=(1,), is_killed=False, reason=REASON, message=message
    )
