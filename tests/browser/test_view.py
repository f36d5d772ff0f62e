"""A view in a real browser: the cookie, the policy, and what changes on the page."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Browser, Page, expect

from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.model import ClusterName
from kwokctl.tasks import beside
from kwokctl.view.live_page import LivePage
from kwokctl.view.serving.view_gate import ViewGate, ViewKeys
from kwokctl.view.serving.view_routes import view_routes
from kwokctl.view.state.cluster_state import ClusterState
from kwokctl.view.view import served_page
from tests.support import browsers
from tests.support.seen_cluster import SeenCluster

NODES = 40


class RunningView:
    """A view of a made-up cluster, served in a thread with its own loop."""

    def __init__(self) -> None:
        self.keys = ViewKeys.new()
        self.port = 0
        self.state = ClusterState(RunClock(lambda: 1_700_000_000.0))
        self.cluster = SeenCluster(self.state.fleet, self.state.pods)
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.keys.opening_path}"

    def do(self, what: Callable[[], object]) -> None:
        """Change the cluster, in the loop of the server."""
        done = threading.Event()

        def work() -> None:
            what()
            done.set()

        self._loop.call_soon_threadsafe(work)
        assert done.wait(60)

    @contextmanager
    def running(self) -> Iterator["RunningView"]:
        """Serve meanwhile."""
        thread = threading.Thread(target=self._run)
        thread.start()
        assert self._ready.wait(60)
        try:
            yield self
        finally:
            assert self._task is not None
            self._loop.call_soon_threadsafe(self._task.cancel)
            thread.join()

    def _run(self) -> None:
        with (
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
            suppress(asyncio.CancelledError),
        ):
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._task = asyncio.current_task()
        self.cluster.begin()
        for number in range(NODES):
            self.cluster.node(f"node-{number}", place=f"rack=rack-{number // 8}")
        self.state.is_watched = True
        page, gate = LivePage(ClusterName("demo"), (), self.state, 600.0), ViewGate(self.keys)
        routes = view_routes(self.keys, gate, served_page(ClusterName("demo")), page.board.follow)
        (listening,) = listening_sockets(["127.0.0.1"], 0)
        self.port = listening.getsockname()[1]
        server = HttpServer(RouteTable(routes), gate.admit)
        with listening:
            async with beside(server.run([listening], None), page.keep()):
                self._ready.set()
                await asyncio.Event().wait()


@pytest.fixture
def view() -> Iterator[RunningView]:
    with RunningView().running() as found:
        yield found


@pytest.fixture
def page(browser: Browser, view: RunningView) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    browsers.visit(opened, view.address)
    expect(opened.locator("#item-fleet-map")).to_be_visible()
    yield opened
    context.close()
    assert [text for text in said if not browsers.is_of_machine(text)] == []


def test_the_address_leads_to_the_page_without_its_token(page: Page, view: RunningView) -> None:
    assert page.url == f"http://127.0.0.1:{view.port}{view.keys.page_path}"
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.locator("#item-fleet-map")).to_be_visible()
    expect(page.locator("h1")).to_have_text("Cluster 'demo'")


def test_a_link_from_elsewhere_leads_there_too(browser: Browser, view: RunningView) -> None:
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(f"data:text/html,<a href='{view.address}'>here</a>")
    opened.get_by_text("here").click()
    expect(opened.locator("#item-fleet-map")).to_be_visible()
    context.close()


def test_what_changes_in_the_cluster_changes_on_the_page(page: Page, view: RunningView) -> None:
    legend = page.locator("#item-fleet-map .legend")
    expect(legend).to_contain_text(f"idle{NODES}")
    view.do(lambda: view.cluster.node("node-3", ready=False, place="rack=rack-0"))
    expect(legend).to_contain_text("not Ready1")
    expect(page.locator("#item-trouble")).to_contain_text("node-3")
    expect(page.locator("#verdict")).to_contain_text("1 node is not Ready, of 40.")

    view.do(lambda: view.cluster.pod("waits", message="<b>no room</b>"))
    expect(page.locator("#item-waiting")).to_contain_text("<b>no room</b>")

    view.do(lambda: view.cluster.node("new", place="rack=rack-new"))
    expect(legend).to_contain_text(f"idle{NODES}")


def test_marks_come_with_commands_to_copy(page: Page, view: RunningView) -> None:
    expect(page.locator("#section-marks")).to_contain_text("There is none yet.")
    made = Mark(
        name="before", made=1_700_000_005.0, prefix="/registry", revision=1, baseline=1, witness=1,
        objects=5, size=9, file="x",
    )  # fmt: skip
    view.do(lambda: setattr(view.state, "marks", [made]))
    command = page.locator("#item-rewind-0")
    expect(command).to_contain_text("kwokctl --name demo snapshot rewind before")
    expect(command.get_by_role("button")).to_be_visible()
    expect(page.locator("#faults summary")).to_have_text("1 moment is marked in the charts of time")


def test_another_tab_without_the_cookie_is_refused(browser: Browser, view: RunningView) -> None:
    context = browser.new_context()
    answer = browsers.visit(
        context.new_page(), f"http://127.0.0.1:{view.port}{view.keys.page_path}"
    )
    assert answer is not None
    assert answer.status == 401
    context.close()


def test_the_page_says_that_the_view_has_ended(browser: Browser) -> None:
    context = browser.new_context()
    opened = context.new_page()
    with RunningView().running() as view:
        browsers.visit(opened, view.address)
        expect(opened.locator("#item-fleet-map")).to_be_visible()
    expect(opened.locator("#verdict")).to_contain_text("The view has ended, or does not answer.")
    context.close()
