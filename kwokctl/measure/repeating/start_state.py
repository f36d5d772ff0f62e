"""The state with which each run begins: that of a mark, or what a command of the user makes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

from kwokctl.clusters.overview.gather import count_nodes
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.time_travel.make_mark import MarkBounds, drop_marks, mark_cluster
from kwokctl.clusters.time_travel.reach import reached
from kwokctl.clusters.time_travel.rewind import Rewound, rewind_cluster
from kwokctl.clusters.time_travel.stored_marks import Marks
from kwokctl.errors import BusyError, CommandError, ConflictError, TimedOutError
from kwokctl.host.process import run_in_view
from kwokctl.kube.collections.paging import ListQuery, count
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.repeating.standing_still import STILL, ControlPlane
from kwokctl.measure.running.request import MeasuredCluster
from kwokctl.model import ClusterName
from kwokctl.progress import Progress

T = TypeVar("T")
MARK = "kwokctl-measure"
"""The name of the mark. One that a killed command has left is the only way back from what it made."""
_NOT_REWOUND = (
    "a rewind does not reset counters of metrics, the random choice of the scheduler between equal nodes, "
    "and the memory of programs other than kube-controller-manager"
)
_ONLY_SEEN = "only pods and nodes were waited for after each --reset: other work may have gone on"
_LOOKS = 4
_WITHIN = 300.0
"""Seconds after which pods and nodes must not change any more, and no other command may use the cluster."""
_POLL = 0.2


class StartState(Protocol):
    """The state with which runs begin."""

    def kept(self) -> AbstractAsyncContextManager[None]:
        """Keep what is needed for this state while inside."""

    async def again(self) -> None:
        """Bring the cluster into this state, and wait until it stands still."""

    def remarks(self) -> list[str]:
        """Say in what the beginnings of runs may differ nevertheless."""


class MarkedState:
    """A mark of a cluster of this kwokctl: a rewind comes before each run, and after the last."""

    def __init__(self, home: Home, cluster: ClusterName) -> None:
        """Change nothing yet."""
        self._home = home
        self._cluster = cluster
        self._plane: ControlPlane | None = None
        self._unsettled: dict[str, None] = {}

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Mark the cluster when it stands still; in the end rewind it, also after an interrupt, and drop the mark.

        ConflictError if there is such a mark already.
        """
        async with reached(self._home, self._cluster) as reach:
            demand_unmarked(self._cluster, reach.marks)
            self._plane = plane = ControlPlane(reach)
            with self._home.progress.step("Waiting until the cluster is idle"):
                await plane.until_at_rest()
                await plane.remember()
            # A limit would drop older marks, which are the user's.
            await mark_cluster(
                self._home,
                self._cluster,
                MARK,
                MarkBounds(size=0),
                demand=partial(demand_unmarked, self._cluster),  # another may have begun meanwhile
            )
            try:
                yield
            finally:
                await self._leave()

    async def again(self) -> None:
        """Rewind, and wait until what the rewind has caused is over."""
        assert self._plane is not None
        since = await self._plane.revision()
        done = await self._rewound()
        self._unsettled |= dict.fromkeys(done.unsettled)
        with self._home.progress.step("Waiting until the control plane stands still"):
            await self._plane.until_still(since)

    def remarks(self) -> list[str]:
        """Say what a rewind does not reset, and what could not be seen."""
        unseen = self._plane.unseen if self._plane else ()
        found = [_NOT_REWOUND]
        found += [f"it was not waited for {each}, which does not show" for each in unseen]
        if self._unsettled:
            names = ", ".join(sorted(self._unsettled)[:_LOOKS])
            found.append(f"these objects did not stay as they were at the mark: {names}")
        return found

    async def _rewound(self) -> Rewound:
        return await when_released(
            partial(rewind_cluster, self._home, self._cluster, MARK), self._home.progress.note
        )

    async def _leave(self) -> None:
        """Go back to the mark and drop it; where that fails the mark is kept, and an error says so."""
        try:
            await self._rewound()
        except BaseException:
            self._home.progress.warn(
                f"the cluster is not as it was; go back with: kwokctl --name {self._cluster} snapshot rewind {MARK}"
            )
            raise
        await drop_mark(self._home, self._cluster)


async def drop_mark(home: Home, cluster: ClusterName) -> None:
    """Drop the mark as soon as no other command excludes that: one that stays forbids the next measurement."""
    drop = partial(drop_marks, home, cluster, MARK, every=False)
    await when_released(drop, home.progress.note)


async def when_released(
    work: Callable[[], Awaitable[T]], note: Callable[[str], None], *, within: float = _WITHIN
) -> T:
    """Do `work` as soon as no other command holds the lock that it takes: one of a second must not end hours of runs.

    `note` is called once, if it has to wait. BusyError if the lock is held for longer than `within` seconds.
    """
    now = asyncio.get_running_loop().time
    until, noted = now() + within, False
    while True:
        try:
            return await work()
        except BusyError as e:
            if now() >= until:
                raise
            if not noted:
                note(f"{e}; this command waits for that")
            noted = True
        await asyncio.sleep(_POLL)


def demand_unmarked(cluster: ClusterName, marks: Marks) -> None:
    """Raise ConflictError if another measurement has left its mark, or goes on."""
    if MARK in marks.names():
        kwokctl = f"kwokctl --name {cluster} snapshot"
        raise ConflictError(
            f"the cluster '{cluster}' has the mark '{MARK}': another measurement goes on, or was killed and has left what it made",
            hint=f"if it was killed, go back with '{kwokctl} rewind {MARK}', or keep what is there; then '{kwokctl} drop {MARK}'",
        )


class ResetByCommand:
    """A command of the user, which runs before each run: for clusters whose etcd cannot be reached."""

    def __init__(self, cluster: MeasuredCluster, command: str, progress: Progress) -> None:
        """Run nothing yet."""
        self._cluster = cluster
        self._command = command
        self._progress = progress
        self._nodes: dict[str, int] = {}

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Remember how many nodes are Ready."""
        async with self._pool() as pool:
            self._nodes = await _nodes(pool)
        yield

    async def again(self) -> None:
        """Run the command, and wait until no pod comes or goes, and nodes are Ready as before.

        CommandError if it fails; TimedOutError if pods or nodes keep changing.
        """
        words = ("sh", "-c", self._command)
        code = await run_in_view(*words, env=self._cluster.environment)
        if code:
            raise CommandError(f"'--reset' ended with exit code {code}")
        with self._progress.step("Waiting until pods and nodes stand still"):
            await self._until_still()

    def remarks(self) -> list[str]:
        """Say what was not waited for."""
        return [_ONLY_SEEN]

    async def _until_still(self) -> None:
        quiet, before = -1, None
        try:
            async with self._pool() as pool, asyncio.timeout(_WITHIN):
                while quiet < _LOOKS:
                    found = await count(pool, ListQuery(resource=PODS)), await _nodes(pool)
                    quiet = quiet + 1 if found == before and found[1] == self._nodes else 0
                    before = found
                    await asyncio.sleep(STILL / _LOOKS)
        except TimeoutError as e:
            raise TimedOutError(
                f"after {_WITHIN:g} s pods still come or go, or other nodes are Ready than before",
                hint="let '--reset' remove all that a run makes, and wait for its end",
            ) from e

    def _pool(self) -> Pool:
        return Pool(load_access(self._cluster.kubeconfig))


async def _nodes(pool: Pool) -> dict[str, int]:
    return dict((await count_nodes(pool)).by_status)
