"""Keeps the page up to date while a browser follows it."""

import asyncio
from collections.abc import Sequence

from kwokctl.measure.pages.page_data import AnyItem, PageData, PageSection
from kwokctl.model import ClusterName
from kwokctl.view.content.fault_items import faults_item
from kwokctl.view.content.fleet_items import MAP, FleetMap, UseChart, trouble_item, use_item
from kwokctl.view.content.head_items import live_head
from kwokctl.view.content.mark_items import marks_items
from kwokctl.view.content.plane_items import PlaneCharts, components_item
from kwokctl.view.content.pod_items import PodCharts, waiting_item
from kwokctl.view.serving.board import Board
from kwokctl.view.state.cluster_state import ClusterState

_TICK = 0.5
"""Seconds between two updates of the map. All other items are made every second tick, when the bins of charts are complete."""
_LAYOUT_TICKS = 4
"""Ticks between two maps with other nodes: while thousands are made, not each of them is worth a new one."""


class LivePage:
    """The page of one cluster."""

    def __init__(
        self,
        name: ClusterName,
        conditions: Sequence[tuple[str, str]],
        state: ClusterState,
        span: float,
    ) -> None:
        """Show the charts of the last `span` seconds."""
        self._name = name
        self._conditions = conditions
        self._state = state
        self._pods = PodCharts(state.pods, span)
        self._use = UseChart(state.fleet, span)
        self._plane = PlaneCharts(state.plane, span)
        self._map = FleetMap(state.fleet)
        self._ticks = 0
        self.board = Board(self.page)

    async def keep(self) -> None:
        """Update the page until cancelled; while no browser shows it, only the values of charts."""
        clock = asyncio.get_running_loop().time
        due = clock()
        while True:
            self._tick()
            due = max(due + _TICK, clock())
            await asyncio.sleep(due - clock())

    def record(self) -> None:
        """Record the present in all charts."""
        seconds = self._state.seconds
        self._plane.record(seconds)
        if self._state.is_watched:
            self._pods.record(seconds)
            self._use.record(seconds)

    def page(self) -> PageData:
        """Return the whole page as it is now."""
        state = self._state
        self._put_map(lays_out=True)
        head = live_head(state, self._pods)
        fleet = [self._map.item(), *self._fleet_items()]
        return PageData(
            kind="live",
            title=f"Cluster '{self._name}'",
            subtitle=f"now, since {state.now.wall:%Y-%m-%d %H:%M:%S} UTC",
            verdict=head.verdict,
            headline=head.headline,
            bands=head.bands,
            conditions=self._conditions,
            sections=[
                PageSection(id="fleet", title="Fleet", items=fleet),
                PageSection(id="pods", title="Pods", items=self._pod_items()),
                PageSection(id="faults", title="Faults", items=[faults_item(state.faults)]),
                PageSection(id="plane", title="Control plane", items=self._plane_items()),
                PageSection(id="marks", title="Marks", lead=_MARKS, items=self._mark_items()),
            ],
        )

    def _tick(self) -> None:
        self._ticks += 1
        is_second = self._ticks % 2 == 0
        if is_second:
            self.record()
        if not self.board.streams:
            return
        if is_second:
            self._put_items()
        self._put_map(lays_out=self._ticks % _LAYOUT_TICKS == 0)
        self.board.publish()

    def _put_items(self) -> None:
        board = self.board
        board.put("head", live_head(self._state, self._pods), "head")
        items = (
            *self._pod_items(), *self._fleet_items(), faults_item(self._state.faults),
            *self._plane_items(),
        )  # fmt: skip
        for item in items:
            board.put(item.id, item)
        # Their number changes, so they are sent as a section.
        marks = PageSection(id="marks", title="Marks", lead=_MARKS, items=self._mark_items())
        board.put("marks", marks, "section")

    def _put_map(self, *, lays_out: bool) -> None:
        seconds = round(self._state.seconds, 1)
        if lays_out and self._map.lay_out(seconds):
            self.board.put_patched(MAP, self._map.item)
        elif patch := self._map.changes(seconds):
            self.board.patch(MAP, patch)

    def _pod_items(self) -> list[AnyItem]:
        return [*self._pods.items(), waiting_item(self._state.pods, self._state.now())]

    def _fleet_items(self) -> list[AnyItem]:
        fleet = self._state.fleet
        return [use_item(fleet), self._use.item(), trouble_item(fleet, self._state.now())]

    def _plane_items(self) -> list[AnyItem]:
        return [components_item(self._state.plane), *self._plane.items()]

    def _mark_items(self) -> list[AnyItem]:
        return [*marks_items(self._name, self._state.marks)]


_MARKS = "States of the cluster to which it can return. The page changes nothing: copy a command, and run it in a terminal."
