"""Writes the states of trainings into their Jobs and JobSets. One of several controllers does it: the leader."""

import logging
from collections.abc import Callable, Sequence

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.known_trainings.rank_reader import HolderKey
from kwokctl.controller.known_trainings.trainings import GangRank, Holder
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.training.holder_watch import HolderWatch
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.kube.client import Client, PatchType
from kwokctl.tasks import beside
from kwokctl.training.state import TRAINING, TrainingState, state_text
from kwokctl.training.training_course import Rank, advanced, as_of_state, misses_one

log = logging.getLogger(__name__)

_WORKERS = 8
_TOGETHER = 0.2
"""Seconds in which more pods of a gang may change before it is looked at: they mostly do together."""
_POST_AGAIN = 5.0
"""Seconds between two looks at whether this controller is the leader."""


_UNKNOWN = 30.0
"""Seconds until a rank has stopped of which nothing is known: after a rewind, or a start of the controller, it may come."""
_SETTLED = 10.0
"""Seconds after a rewind until a training begins that waits."""


class _Look:
    """A training that is to be looked at."""

    __slots__ = ("is_busy", "is_wanted", "key", "missed", "queue", "restored", "tries", "written")

    def __init__(self, key: HolderKey, queue: BatchQueue["_Look"]) -> None:
        self.key = key
        self.queue = queue
        self.tries = self.written = 0
        self.is_busy = self.is_wanted = False
        self.missed: float | None = None
        """The time since which nothing is known of one of its ranks."""
        self.restored = (0, 0.0)
        """The version with which its state went back last, and until when nothing begins after that."""

    def on_due(self) -> None:
        self.queue.put(self)


class TrainingKeeper:
    """The trainings whose states this controller writes, while it is the leader."""

    def __init__(
        self, client: Client, context: ControllerContext, is_mine: Callable[[], bool]
    ) -> None:
        """Keep the trainings of the context; `is_mine` says whether this controller is the leader."""
        self._context = context
        self._trainings = context.trainings
        self._is_mine = is_mine
        self._watch = HolderWatch(client, context, is_mine)
        self._queue: BatchQueue[_Look] = work_queue(self._work, _WORKERS)
        self._looks: dict[HolderKey, _Look] = {}
        self._trainings.attend(self._changed)

    async def known(self) -> None:
        """Return at once: no pod waits for what is known of its training."""

    async def run(self) -> None:
        """Work until cancelled."""
        async with beside(self._queue.run()):
            await self._watch.run()

    def _changed(self, key: HolderKey) -> None:
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = _Look(key, self._queue)
        if look.is_busy:
            look.is_wanted = True
        else:
            self._soon(look, _TOGETHER)

    def _soon(self, look: _Look, delay: float) -> None:
        self._context.delay_queue.put(look, max(delay, 0.0))

    async def _work(self, look: _Look) -> None:
        if look.is_busy:
            look.is_wanted = True
            return
        holder = self._trainings.holders.get(look.key)
        ranks = [each for each in self._trainings.ranks(look.key) if each.plan is not None]
        if holder is None or not ranks:
            self._looks.pop(look.key, None)
            return
        if not self._is_mine():
            self._soon(look, _POST_AGAIN)
            return
        if holder.version < look.written:
            return  # the watch has not shown yet what was written last
        look.is_busy, look.is_wanted = True, False
        try:
            wait = await self._keep(look, holder, ranks)
        except RequestError as e:
            wait = self._put_off(look, e)
        else:
            look.tries = 0
        finally:
            look.is_busy = False
        if look.is_wanted:
            self._soon(look, _TOGETHER)
        elif wait is not None:
            self._soon(look, wait)

    async def _keep(self, look: _Look, holder: Holder, ranks: Sequence[GangRank]) -> float | None:
        """Write what has happened; return in how many seconds something happens by itself."""
        now = self._context.wall()
        plan = ranks[-1].plan
        assert plan is not None
        before = holder.state or TrainingState.waiting(plan, holder.created)
        known = [_known(each, holder, before) for each in ranks]
        if (wait := self._rests(look, holder, before, now)) > 0:
            return wait
        is_short = misses_one(before, known, holder.size)
        look.missed = (look.missed or now) if is_short else None
        is_over = look.missed is not None and now >= look.missed + _UNKNOWN
        missed = look.missed if is_over else None
        state = advanced(before, plan, known, holder.size, now, missed=missed)
        if state != holder.state:
            look.written = await self._write(look.key, holder, state)
            return None
        end = state.end if state.phase == "Running" else None
        waits = [end] if end is not None else []
        waits += [look.missed + _UNKNOWN] if look.missed is not None else []
        return min(waits) - now if waits else None

    def _rests(self, look: _Look, holder: Holder, state: TrainingState, now: float) -> float:
        """Return the seconds until a training may begin whose state went back: its pods do so a moment later."""
        if holder.restored != look.restored[0]:
            look.restored = (holder.restored, now + _SETTLED)
        return look.restored[1] - now if state.phase != "Running" else 0.0

    async def _write(self, key: HolderKey, holder: Holder, state: TrainingState) -> int:
        target = ObjectKey(self._watch.resources[key.kind], key.namespace, key.name)
        meta = {
            "uid": holder.uid,
            # What is computed from a state must not replace a newer one, such as that of a rewind.
            "resourceVersion": str(holder.version),
            "annotations": {TRAINING: state_text(state)},
        }
        patch = Patch(document={"metadata": meta}, type=PatchType.MERGE)
        answer = await self._context.plane.patch(target, patch)
        self._context.metrics.count("kwok_controller_writes_total", verb="patch")
        return int(answer["metadata"].get("resourceVersion") or 0)

    def _put_off(self, look: _Look, error: RequestError) -> float | None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            return None  # that comes with the watch
        look.tries += 1
        if kind.is_lasting and look.tries == 1 and not self._context.rights.is_known(error):
            log.warning("training of '%s/%s': %s; trying again", *look.key[1:], error)
        return wait_after(kind, look.tries, self._context.random)


def _known(rank: GangRank, holder: Holder, state: TrainingState) -> Rank:
    return as_of_state(rank.rank, state) if holder.is_stale(rank) else rank.rank
