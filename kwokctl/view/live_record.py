"""Follows a cluster, and keeps the state that a view shows: by the recorder of `measure`, without a record."""

import asyncio
from contextlib import aclosing

from kwokctl.clusters.faults.fault_states import fault_changes
from kwokctl.clusters.state.deletion import Deletion
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.status import component_statuses
from kwokctl.clusters.time_travel.reach import marks_of
from kwokctl.errors import KwokctlError, NotFoundError
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.sampling.metric_sources import Components
from kwokctl.measure.sampling.processes import ProcessSampler
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, RunRecorder
from kwokctl.model import ClusterName
from kwokctl.tasks import beside
from kwokctl.view.state.cluster_state import ClusterState
from kwokctl.view.state.forgetting_texts import ForgettingTexts
from kwokctl.view.state.node_watch import PlacedNodes

_PROCESSES_EVERY, _STATUSES_EVERY, _MARKS_EVERY, _FAULTS_AGAIN = 2.0, 10.0, 2.0, 5.0
"""Seconds."""
_GATHER = 0.1
"""Seconds for which changes are gathered: waking for each of them costs more than all else."""


def recorder_of(pool: Pool, state: ClusterState) -> RunRecorder:
    """Return the recorder of nodes and pods that keeps a state."""
    pods, fleet = state.pods, state.fleet
    tracker = PodTracker(pods.take, ForgettingTexts(pods.take), labels=(), takes_existing=True)
    nodes = PlacedNodes(fleet.take, Texts(fleet.take), fleet.note)
    kinds = (
        Followed(resource=NODES, tracker=nodes),
        Followed(resource=PODS, tracker=tracker),
    )
    return RunRecorder(pool, kinds, state.plane.take, state.now, gather=_GATHER)


class LiveRecord:
    """Follows one cluster."""

    def __init__(
        self,
        home: Home,
        name: ClusterName,
        pool: Pool,
        components: Components | None,
        state: ClusterState,
    ) -> None:
        self._home = home
        self._name = name
        self._state = state
        self._deletion = Deletion(home.paths(name).own_kubeconfig)
        self._recorder = recorder_of(pool, state)
        self._processes = None
        plane = state.plane
        if components and components.processes:
            self._processes = ProcessSampler(components, plane.take, Texts(plane.take), state.now)

    async def follow(self) -> None:
        """Follow until cancelled; NotFoundError when the cluster is deleted."""
        others = (
            self._look_at_processes(), self._look_at_components(), self._look_at_marks(),
            self._follow_faults(), self._fail_if_deleted(),
        )  # fmt: skip
        async with beside(*others), self._recorder.recording():
            self._state.is_watched = True
            await asyncio.Event().wait()

    async def _fail_if_deleted(self) -> None:
        await self._deletion.wait()
        raise NotFoundError(f"the cluster '{self._name}' was deleted while it was shown")

    async def _look_at_processes(self) -> None:
        while self._processes:
            await self._processes.sample()
            await asyncio.sleep(_PROCESSES_EVERY)

    async def _look_at_components(self) -> None:
        while True:
            try:
                found = await component_statuses(self._home, self._name)
                self._state.plane.statuses = {each.name: each for each in found}
            except NotFoundError:
                raise
            except KwokctlError:
                pass  # the engine does not answer: what it said last stands
            await asyncio.sleep(_STATUSES_EVERY)

    async def _look_at_marks(self) -> None:
        """Read the marks when their folder has changed."""
        known = -1
        folder = self._home.paths(self._name).marks
        while True:
            try:
                changed = folder.stat().st_mtime_ns
            except FileNotFoundError:
                changed = 0
            if changed != known:
                known = changed
                self._state.marks = marks_of(self._home, self._name).all()
            await asyncio.sleep(_MARKS_EVERY)

    async def _follow_faults(self) -> None:
        """Follow the Faults, once the cluster serves some."""
        faults, state = self._state.faults, self._state
        while True:
            try:
                async with aclosing(fault_changes(self._home, self._name)) as changes:
                    async for changed in changes:
                        faults.take(changed, state.seconds)
            except NotFoundError:
                faults.problem = ""  # it serves no Faults, so none is open
            except KwokctlError as e:
                faults.problem = f"Faults are not known: {e}."
            await asyncio.sleep(_FAULTS_AGAIN)
