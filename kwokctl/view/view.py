"""Shows a running cluster on a page in the browser, which follows it. Reads only."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from kwokctl import __version__
from kwokctl.clusters.object_files.exporting.export import ExportSource
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.errors import ConflictError, UnavailableError
from kwokctl.host.ports import LOOPBACK, in_use, is_taken
from kwokctl.measure.pages import join
from kwokctl.measure.pages.page_data import PageData
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.measure.running.run import own_cluster
from kwokctl.model import KUBE_APISERVER, ClusterName
from kwokctl.tasks import beside
from kwokctl.view.content.head_items import reading
from kwokctl.view.live_page import LivePage
from kwokctl.view.live_record import LiveRecord
from kwokctl.view.serving.view_gate import ViewGate, ViewKeys
from kwokctl.view.serving.view_routes import ServedPage, view_routes
from kwokctl.view.state.cluster_state import ClusterState

VIEW_AGENT = "kwokctl-view"
"""The client that the API server's audit log and metrics name."""


class ViewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a view."""

    port: int = 0
    """0 for a free one."""
    span: float = 600.0
    """The seconds that charts go back."""


@asynccontextmanager
async def viewing(
    home: Home, name: ClusterName, request: ViewRequest, clock: RunClock
) -> AsyncIterator[str]:
    """Serve the page of a cluster while inside; yields its address, which each user who has it may open.

    Raises NotFoundError if there is no such cluster, ComponentError if its API server does not run, ConflictError if the port is in use.
    """
    saved = load(home.paths(name), name)
    await demand_running(home, home.runtime(saved.options.runtime), name, KUBE_APISERVER)
    cluster, state = own_cluster(home, name), ClusterState(clock)
    keys, page = ViewKeys.new(), LivePage(name, _conditions(saved), state, request.span)
    routes = view_routes(keys, gate := ViewGate(keys), served_page(name), page.board.follow)
    source = ExportSource(kubeconfig=cluster.kubeconfig)
    async with source.connected(user_agent=VIEW_AGENT) as (_, pool):
        record = LiveRecord(home, name, pool, cluster.components, state)
        listening = _listening(request.port)
        server = HttpServer(RouteTable(routes), gate.admit, owner=os.getuid())
        port = listening.getsockname()[1]
        with listening:
            async with beside(server.run([listening], None), record.follow(), page.keep()):
                yield f"http://{LOOPBACK}:{port}{keys.opening_path}"


def _conditions(saved: Saved) -> list[tuple[str, str]]:
    return [
        ("cluster", saved.name),
        ("Kubernetes", saved.options.kube_version),
        ("runtime", saved.options.runtime),
        ("kwokctl", __version__),
    ]


def served_page(name: ClusterName) -> ServedPage:
    """Return the page without content: the stream brings that."""
    empty = PageData(kind="live", title=f"Cluster '{name}'", verdict=reading(name))
    parts = join.read_parts(live=True)
    html = join.html(empty, parts, has_policy=False)
    return ServedPage(html=html.encode(), policy=join.policy(parts, connects=True))


def _listening(port: int) -> socket.socket:
    try:
        return listening_sockets([LOOPBACK], port)[0]
    except UnavailableError as e:
        hint = "give another with --port; without it a free one is taken"
        if is_taken(e):
            raise ConflictError(str(in_use("view", port)), hint=hint) from e
        raise UnavailableError(
            f"this user cannot listen on port {port} of {LOOPBACK}", hint=hint
        ) from e
