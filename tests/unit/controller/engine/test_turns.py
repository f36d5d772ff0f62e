"""Objects that follow a conduct in place of Stages wait for its turns, and for those only."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.object_state import ObjectState, WrittenObject
from kwokctl.controller.engine.turns import NEVER
from kwokctl.errors import ApiError, ExpressionError
from kwokctl.kube.resource import PODS
from tests.support.engine_rig import RUN, Rig, pod
from tests.support.virtual_time import run


@dataclass
class Chain:
    """A conduct for pods whose phase is not Running yet: the test sets the wait and the effect."""

    waits: list[float | None] = field(default_factory=list)
    """What `report` returns, one after the other; then NEVER."""
    is_for_all: bool = True
    fails: Exception | None = None
    failing: Collection[int] = range(1000)
    """The plays that fail, if any does."""
    played: list[float] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    turn: ConductTurn = ConductTurn("chain")  # noqa: RUF009 - it is immutable

    def concerns(self, state: ObjectState) -> bool:
        return self.is_for_all

    def look(self, state: ObjectState) -> float:
        if isinstance(self.fails, ExpressionError):
            raise self.fails
        return 0.0 if not self.played or self.waits else NEVER

    def put_off(self, state: ObjectState) -> None:
        self.heard.append("put off")

    async def play(self, state: ObjectState) -> WrittenObject:
        self.played.append(asyncio.get_running_loop().time())
        if self.fails is not None and len(self.played) - 1 in self.failing:
            raise self.fails
        return WrittenObject(state.version)

    async def report(self, state: ObjectState, written: WrittenObject) -> float | None:
        return self.waits.pop(0) if self.waits else NEVER

    def after(self, state: ObjectState) -> None:
        self.heard.append("after")

    def leave(self, state: ObjectState) -> None:
        self.heard.append("leave")

    def forget(self, state: ObjectState) -> None:
        self.heard.append("forget")


def lived(chain: Chain, seconds: float, then: str = "") -> Rig:
    """Let a pod follow a conduct for some time; `then` its Stages, or its end, follow."""

    async def whole() -> Rig:
        rig = Rig(RUN, conducts=(chain,))
        async with rig.running():
            rig.cluster.put(PODS, pod())
            await asyncio.sleep(seconds)
            if then == "stages":
                chain.is_for_all = False
                rig.engine.wake("ns/p")
            elif then == "end":
                rig.cluster.remove(PODS, "p", "ns")
            await asyncio.sleep(1)
        return rig

    return run(whole())


def test_what_is_due_later_is_played_then() -> None:
    chain = Chain(waits=[5.0, 7.0])
    rig = lived(chain, 60)

    begin = chain.played[0]
    assert [at - begin for at in chain.played] == [0.0, 5.0, 12.0]
    assert chain.heard == ["after"] * 3
    assert rig.phase() == "Pending"


def test_turns_without_delay_become_calm() -> None:
    chain = Chain(waits=[None] * 10)
    lived(chain, 60)

    gaps = [b - a for a, b in zip(chain.played, chain.played[1:], strict=False)]
    assert gaps == [0.0] * 7 + [1.0] * 2
    assert chain.heard.count("put off") == 2


def test_stages_take_over_an_object_that_has_waited_for_a_turn() -> None:
    chain = Chain(waits=[1000.0])
    rig = lived(chain, 60, "stages")

    assert rig.phase() == "Running"
    assert "leave" in chain.heard
    assert len(chain.played) == 1


def test_an_object_that_cannot_be_read_is_left_alone() -> None:
    rig = lived(Chain(fails=ExpressionError("unreadable")), 60)

    assert rig.phase() == "Pending"
    assert len(rig.delay_queue) == 0


def test_a_refused_turn_is_tried_again_and_no_stage_in_its_place() -> None:
    chain = Chain(fails=ApiError("no", status=422, reason="Invalid"))
    rig = lived(chain, 60)

    assert len(chain.played) > 1
    assert rig.phase() == "Pending"


def test_the_first_failure_after_a_success_is_tried_again_as_soon_as_the_very_first() -> None:
    error = ApiError("no", status=422, reason="Invalid")
    chain = Chain(waits=[1.0] * 3, fails=error, failing={0, 1, 2, 4, 6})
    lived(chain, 600)

    gaps = [b - a for a, b in zip(chain.played, chain.played[1:], strict=False)]
    failed = {number: gap for number, gap in enumerate(gaps) if number in chain.failing}
    assert failed[0] < failed[1] < failed[2]
    assert max(failed[4], failed[6]) < failed[1]
    assert (gaps[3], gaps[5]) == (1.0, 1.0)


def test_a_conduct_forgets_an_object_that_is_gone() -> None:
    chain = Chain(waits=[1000.0])
    rig = lived(chain, 60, "end")

    assert chain.heard[-1] == "forget"
    assert len(rig.engine) == 0
