"""Measures the cost of `kwokctl view` while a page is open, at a rate of changes, beside nodes and pods that stay.

    python -m benchmarks.view [--rate 500] [--pods 100000] [--nodes 10000] [--seconds 30] [--heartbeats 30] [--browser]

The API server is a program that sends nodes and pods as large as real ones, over TLS, in a process of its own; so is the client that
reads the events of the page. The components, which a view looks at every two seconds, are left out. With `--browser` Debian's chromium
reads them, and its long tasks are measured: those of 50 ms and more.
"""

import argparse
import asyncio
import http.client
import multiprocessing
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from benchmarks.measuring import serving_changes
from benchmarks.processes import peak_bytes
from benchmarks.report import Row, report
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.host.ports import LOOPBACK
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.model import ClusterName
from kwokctl.tasks import beside, new_event_loop
from kwokctl.view.live_page import LivePage
from kwokctl.view.live_record import recorder_of
from kwokctl.view.serving.view_gate import COOKIE, ViewGate, ViewKeys
from kwokctl.view.serving.view_routes import EVENTS, view_routes
from kwokctl.view.state.cluster_state import ClusterState
from kwokctl.view.view import served_page

_SHARE, _MEMORY, _UPDATES, _TASK = 15.0, 400.0, 2.0, 100.0
_CHARTED = 600
_SETTLING = 5
"""Seconds after the lists until the figures count."""


_LONG_TASKS = """() => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ entryTypes: ["longtask"] });
}"""


_ONE_LONG_TASK = """() => setTimeout(() => {
  const end = performance.now() + 80;
  while (performance.now() < end);
})"""


def _browse(pipe: Connection, address: str) -> None:
    """Show the page in chromium, and return its long tasks in ms, when asked."""
    from playwright.sync_api import sync_playwright  # not everywhere where other benchmarks run

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[] if os.getuid() else ["--no-sandbox"]
        )
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("#item-fleet-map")
        page.wait_for_timeout(1000 * _SETTLING)
        page.evaluate(_LONG_TASKS)
        page.evaluate(_ONE_LONG_TASK)
        page.wait_for_timeout(1000)
        # Else that none is reported would not say that there is none.
        assert page.evaluate("window.tasks.splice(0).some((each) => each >= 80)")
        pipe.send(200)
        while not pipe.poll():
            page.wait_for_timeout(200)
        pipe.send(page.evaluate("window.tasks"))
        browser.close()


def _follow(pipe: Connection, port: int, path: str, cookie: str) -> None:
    """Read the events of a page until asked how many there were."""
    connection = http.client.HTTPConnection(LOOPBACK, port)
    connection.request("GET", path, headers={"Cookie": f"{COOKIE}={cookie}"})
    answer = connection.getresponse()
    counts: Counter[str] = Counter()
    size = 0
    pipe.send(answer.status)
    while not pipe.poll():
        line = answer.readline()
        size += len(line)
        if line.startswith(b"data: "):
            counts[line[6:60].partition(b'"id":"')[2].partition(b'"')[0].decode()] += 1
    pipe.send((size, max(counts.values())))


def _of_events(answer: tuple[int, int], seconds: float) -> list[Row]:
    size, most = answer
    return [
        Row("events of the page", size / seconds / 1e3, "kB/s"),
        Row("most updates of an item", most / seconds, "/s", _UPDATES),
    ]


def _of_browser(tasks: list[float], seconds: float) -> list[Row]:
    return [
        Row("longest task of the browser", max(tasks, default=0.0), "ms", _TASK),
        Row("long tasks of the browser", len(tasks) / seconds, "/s"),
    ]


class _FullClock(RunClock):
    """The clock of a view that has run for as long as charts go back."""

    def __init__(self, wall: Callable[[], float]) -> None:
        super().__init__(wall)
        self.ahead = 0
        """Seconds."""

    def __call__(self) -> int:
        return super().__call__() + self.ahead * 1_000_000_000


def _fill(page: LivePage, state: ClusterState, clock: _FullClock) -> None:
    """Fill the charts."""
    state.is_watched = True
    for _ in range(_CHARTED):
        clock.ahead += 1
        state.pods.phases["Running"] += clock.ahead % 7
        page.record()
    state.pods.phases.clear()


async def _rows(access: Access, seconds: int, rate: int, *, in_browser: bool) -> list[Row]:
    clock = _FullClock(time.time)
    state, keys = ClusterState(clock), ViewKeys.new()
    page = LivePage(ClusterName("big"), (), state, float(_CHARTED))
    _fill(page, state, clock)
    gate, served = ViewGate(keys), served_page(ClusterName("big"))
    server = HttpServer(RouteTable(view_routes(keys, gate, served, page.board.follow)), gate.admit)
    listening = listening_sockets([LOOPBACK], 0)
    port = listening[0].getsockname()[1]
    here, there = multiprocessing.Pipe()
    spawned = multiprocessing.get_context("spawn")
    address, path = f"http://{LOOPBACK}:{port}{keys.opening_path}", f"{keys.page_path}{EVENTS}"
    if in_browser:
        client = spawned.Process(target=_browse, args=(there, address))
    else:
        client = spawned.Process(target=_follow, args=(there, port, path, keys.session))
    begun = time.process_time()
    async with (
        Pool(access, connections=8) as pool,
        beside(server.run(listening, None), page.keep()),
        recorder_of(pool, state).recording(),
    ):
        listed = time.process_time() - begun
        client.start()
        assert await asyncio.to_thread(here.recv) == 200
        await asyncio.sleep(_SETTLING)
        steps, spent, at = state.pods.steps.total(), time.process_time(), time.perf_counter()
        await asyncio.sleep(seconds)
        spent, took = time.process_time() - spent, time.perf_counter() - at
        seen = state.pods.steps.total() - steps
        here.send("how many?")
        answer = await asyncio.to_thread(here.recv)
    client.join()
    behind = state.plane.last_behind
    return [
        Row(f"share of a core at {rate} changes a second", spent / took * 100, "%", _SHARE),
        Row("changes a second that were seen", seen / took, "/s"),
        Row("CPU of the lists", listed, "s"),
        Row("memory", peak_bytes(os.getpid()) / 1e6, "MB", _MEMORY),
        *(_of_browser(answer, took) if in_browser else _of_events(answer, took + _SETTLING)),
        Row("last time that something waited", behind.wait / 1e9 if behind else 0.0, "s"),
    ]


def main() -> None:
    """Measure it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--heartbeats", type=int, default=30, help="of nodes, a second")
    parser.add_argument("--browser", action="store_true", help="follow in chromium")
    words = parser.parse_args()
    serving = serving_changes(
        pods=words.pods,
        rate=words.rate,
        seconds=10 * words.seconds,
        heartbeats=words.heartbeats,
        nodes=words.nodes,
        at_once=words.rate,
    )
    with serving as access, asyncio.Runner(loop_factory=new_event_loop) as runner:
        rows = runner.run(_rows(access, words.seconds, words.rate, in_browser=words.browser))
    title = f"view: {words.rate} changes a second, {words.nodes:,} nodes, {words.pods:,} pods"
    report(title, rows)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
