"""Checks of a cluster, and what repairs them."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.doctor.cluster import (
    clock_of_api,
    components,
    controller,
    deletions,
    metrics,
    nodes,
    pods,
    taken_ports,
)
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.doctor.cluster.cluster_checks import CHECKS
from kwokctl.clusters.overview.figures import ControllerReport, Nodes
from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.components.catalog import catalog
from kwokctl.components.fake_nodes import KUBELET_ADDRESS
from kwokctl.embedded.resource_metrics import ANNOTATION
from kwokctl.model import ETCD, KUBE_SCHEDULER, METRICS_SERVER, State
from kwokctl.replacing import replace
from tests.support.examined import WELL, checked, whats
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import changed

DEAD = ComponentStatus(name=KUBE_SCHEDULER, status=RunStatus.STOPPED, version="", ports=())


LONG_AGO, LATELY = "2026-01-01T00:00:00Z", "2027-01-15T08:00:00Z"


OURS = "kwok.x-k8s.io/fake"


def table(columns: tuple[str, ...], *rows: tuple[str, ...], follows: str = "") -> dict[str, Any]:
    return {
        "metadata": {"continue": follows},
        "columnDefinitions": [{"name": name} for name in columns],
        "rows": [{"cells": [*row]} for row in rows],
    }


def known(name: str, **more: object) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "a", **more}}


POD_ROWS = [
    table(("Status", "Node"), ("Running", "n1"), ("Terminating", "n1"), follows="more"),
    table((), ("Terminating", "gone"), ("Running", "gone"), ("Pending", "<none>")),
]


ON = {
    "gone": [known("lost", deletionTimestamp=LONG_AGO, finalizers=[OURS, "x.io/y"]), known("still")],
    "n1": [known("web"), known("stuck", deletionTimestamp=LONG_AGO), known("new", deletionTimestamp=LATELY)],
}  # fmt: skip


def kind(name: str, *, namespaced: bool = False, verbs: str = "list delete") -> dict[str, Any]:
    singular = name.removesuffix("s")
    return {
        "name": name,
        "kind": singular.title(),
        "namespaced": namespaced,
        "verbs": verbs.split(),
    }


def group(name: str, *versions: str) -> dict[str, Any]:
    served = [{"groupVersion": f"{name}/{version}"} for version in versions]
    return {"name": name, "versions": served, "preferredVersion": served[0]}


SERVED = {
    "/apis": {"groups": [group("example.com", "v1", "v1beta1"), group("away.io", "v1")]},
    "/api/v1": {
        "resources": [
            kind("namespaces"), kind("nodes"), kind("pods", namespaced=True),
            kind("events", namespaced=True), kind("bindings", verbs="create"),
        ]
    },
    "/apis/example.com/v1": {"resources": [kind("things", namespaced=True)]},
    "/apis/example.com/v1beta1": {"resources": [kind("things", namespaced=True)]},
    "/apis/away.io/v1": {"resources": [kind("others")]},
    "/apis/example.com/v1/things": {
        "items": [known("held", deletionTimestamp=LONG_AGO, finalizers=["y.io/z"])]
    },
    "/api/v1/nodes": {"items": [known("n1", deletionTimestamp=LONG_AGO, finalizers=["x.io/y"])]},
    "/api/v1/namespaces": {"items": [known("left", deletionTimestamp=LONG_AGO), known("default")]},
}  # fmt: skip
"""What the API server serves, and the objects of some kinds, by path."""


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}


STAGE = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "node-initialize"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "selector": {"matchLabels": {"kind": "fake"}},
        "next": {"statusTemplate": "phase: x"},
    },
}


async def answer(request: Request, reply: Reply) -> None:
    """Serve a few objects of a cluster that is not well."""
    path, query = request.path, request.query
    is_table = "Table" in request.headers["accept"]
    if request.method != "GET":
        await reply.json({})
    elif path.endswith("/nodes") and is_table:
        await reply.json(table(("Name",), ("n1",)))
    elif path.endswith("/pods") and is_table:
        await reply.json(POD_ROWS["continue" in query])
    elif path in SERVED:
        await reply.json(SERVED[path])
    elif path.startswith("/apis/away.io"):
        await reply.refuse(503, "ServiceUnavailable", "its server is away")
    elif path.endswith("/pods"):
        await reply.json({"items": ON[query["fieldSelector"].removeprefix("spec.nodeName=")]})
    elif path.endswith("/namespaces/left"):
        condition = {"type": "NamespaceContentRemaining", "status": "True", "message": "3 pods"}
        await reply.json({"status": {"conditions": [condition]}})
    else:
        await reply.json(NODE)


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    async with serving(answer) as fake:
        yield fake


def test_each_check_of_a_cluster_has_a_name_of_its_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)


async def test_what_does_not_run_is_started_by_the_repair(tmp_path: Path) -> None:
    ill = replace(WELL, status=RunStatus.NOT_READY, components=(DEAD,))
    [finding] = (await components.look(checked(tmp_path, ill))).findings

    assert finding.what == "'kube-scheduler' does not run"
    assert finding.repair
    assert finding.repair.what == "Starting the stopped components of 'ill'"


async def test_a_component_that_a_full_disk_has_ended_is_not_started_again(tmp_path: Path) -> None:
    full = replace(DEAD, message="write wal: no space left on device")
    ill = replace(WELL, status=RunStatus.NOT_READY, components=(full,))
    [finding] = (await components.look(checked(tmp_path, ill))).findings

    assert finding.what.startswith("'kube-scheduler' does not run: the disk at ")
    assert finding.repair is None


async def test_a_cluster_that_its_user_has_stopped_is_well(tmp_path: Path) -> None:
    one = checked(tmp_path, replace(WELL, status=RunStatus.STOPPED, components=(DEAD,)))
    one.paths.stopped.touch()

    assert whats(await components.look(one)) == []


async def test_the_program_is_named_that_has_the_port_of_what_does_not_run(tmp_path: Path) -> None:
    running = dict.fromkeys(catalog(), State.RUNNING) | {ETCD: State.STOPPED}
    one = checked(tmp_path, runtime=FakeRuntime(found=running))
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        saved = replace(one.saved, options=changed(one.saved.options, etcd_port=port))
        [what] = whats(await taken_ports.look(replace(one, saved=saved)))
    assert what.startswith(f"port {port}, wanted for 'etcd', is in use by ")


async def test_a_controller_that_is_late_is_found(tmp_path: Path) -> None:
    ill = replace(WELL, controller=ControllerReport(stages=(), watch_delay=9.0))
    assert whats(await controller.look(checked(tmp_path, ill))) == [
        "the controller sees changes 9.0 s late"
    ]


async def test_the_first_rule_is_named_that_keeps_a_node_from_being_ready(
    tmp_path: Path, server: FakeApiServer
) -> None:
    ill = replace(WELL, nodes=Nodes(by_status={"NotReady": 1}, not_ready="n1"))
    one = checked(tmp_path, ill, url=server.url)
    with_stage(one.paths.saved, one.saved, one)
    report = await nodes.look(one)

    assert whats(report) == ["1 node is not Ready, such as 'n1'"]
    assert report.notes == (
        "Stage 'node-initialize' does not match 'n1': label 'kind' is not there, and must be 'fake'",
    )


async def test_a_cluster_without_stages_for_nodes_says_so(
    tmp_path: Path, server: FakeApiServer
) -> None:
    ill = replace(WELL, nodes=Nodes(by_status={"NotReady": 1}, not_ready="n1"))
    report = await nodes.look(checked(tmp_path, ill, url=server.url))

    assert report.notes == ("the cluster has no Stage for objects of the kind Node",)


def measured_node(
    name: str, annotations: dict[str, str] | None = None, *, is_fake: bool = True
) -> dict[str, Any]:
    kind = KUBELET_ADDRESS if is_fake else "InternalIP"
    metadata = {"name": name, "annotations": annotations} if annotations else {"name": name}
    return {"metadata": metadata, "status": {"addresses": [{"type": kind, "address": "a"}]}}


@asynccontextmanager
async def with_nodes(
    folder: Path, *nodes: dict[str, Any]
) -> AsyncIterator[tuple[CheckedCluster, FakeApiServer]]:
    """Yield a cluster with these nodes, and its API server."""

    async def list_nodes(request: Request, reply: Reply) -> None:
        await reply.json({"items": [*nodes]} if request.method == "GET" else {})

    async with serving(list_nodes) as server:
        yield checked(folder, url=server.url), server


async def test_nodes_that_metrics_server_cannot_measure_are_found_and_annotated(
    tmp_path: Path,
) -> None:
    nodes_there = (
        measured_node("well", {ANNOTATION: "/own"}),
        measured_node("first"),
        measured_node("real", is_fake=False),
        measured_node("second", {"other": "x"}),
    )
    async with with_nodes(tmp_path, *nodes_there) as (ill, server):
        report = await metrics.look(ill)
        (finding,) = report.findings
        assert finding.repair
        server.requests.clear()
        await finding.repair.do()

        assert whats(report) == [
            f"2 nodes are without metrics, such as 'first': the annotation '{ANNOTATION}' is missing"
        ]
        assert {(each.method, each.path) for each in server.requests} == {
            ("PATCH", "/api/v1/nodes/first"),
            ("PATCH", "/api/v1/nodes/second"),
        }


async def test_nodes_with_a_path_are_read_without_their_status(tmp_path: Path) -> None:
    has_path = measured_node("a", {ANNOTATION: "/own"})
    async with with_nodes(tmp_path, has_path) as (well, server):
        report = await metrics.look(well)

        assert report.findings == ()
        assert all("PartialObjectMetadata" in e.headers["accept"] for e in server.requests)


async def test_without_metrics_server_no_node_needs_a_path(tmp_path: Path) -> None:
    async with with_nodes(tmp_path, measured_node("a")) as (full, server):
        rest = tuple(name for name in full.saved.names if name != METRICS_SERVER)
        well = replace(full, saved=replace(full.saved, names=rest))

        assert (await metrics.look(well)).findings == ()
        assert server.requests == []


async def test_pods_of_gone_nodes_and_stuck_ones_are_found_by_their_rows(
    tmp_path: Path, server: FakeApiServer
) -> None:
    report = await pods.look(checked(tmp_path, url=server.url))

    assert report.state == "5, 1 of them being deleted"
    assert whats(report) == [
        "2 pods are on nodes that are gone, such as 'gone'",
        "1 pod is stuck in deletion, such as 'stuck'",
    ]
    assert report.findings[1].remedy.endswith("stage explain pod/stuck -n a")
    lists = [each for each in server.requests if each.path == "/api/v1/pods"]
    assert all("Table" in e.headers["accept"] or "fieldSelector" in e.query for e in lists)


async def test_only_deleted_pods_of_gone_nodes_are_removed_and_others_finalizers_stay(
    tmp_path: Path, server: FakeApiServer
) -> None:
    finding = (await pods.look(checked(tmp_path, url=server.url))).findings[0]
    assert finding.repair
    server.requests.clear()
    await finding.repair.do()

    _, patch, delete = server.requests
    assert (patch.method, patch.body) == ("PATCH", b'{"metadata":{"finalizers":["x.io/y"]}}')
    assert (delete.method, delete.path) == ("DELETE", "/api/v1/namespaces/a/pods/lost")


async def test_deleted_pods_of_any_number_of_gone_nodes_are_removed(tmp_path: Path) -> None:
    count = 45
    asked: list[str] = []

    async def many(request: Request, reply: Reply) -> None:
        asked.append(f"{request.method} {request.path}")
        if request.path.endswith("/nodes"):
            await reply.json(table(("Name",)))
        elif "Table" in request.headers["accept"]:
            rows = [("Terminating", f"gone-{n}") for n in range(count)]
            await reply.json(table(("Status", "Node"), *rows))
        elif request.method == "GET":
            name = request.query["fieldSelector"].removeprefix("spec.nodeName=gone-")
            await reply.json({"items": [known(f"pod-{name}", deletionTimestamp=LONG_AGO)]})
        else:
            await reply.json({})

    async with serving(many) as server:
        [finding] = (await pods.look(checked(tmp_path, url=server.url))).findings
        assert finding.repair
        assert finding.repair.what == "Removing 45 deleted pods of 'ill' whose nodes are gone"
        await finding.repair.do()

    removed = {each.rpartition("/")[2] for each in asked if each.startswith("DELETE")}
    assert removed == {f"pod-{n}" for n in range(count)}


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Fri, 15 Jan 2027 08:00:03 GMT", []),
        ("Fri, 15 Jan 2027 08:01:00 GMT", ["the clock of the API server is 60 s ahead of this machine's"]),
        ("Fri, 15 Jan 2027 07:59:00 GMT", ["the clock of the API server is 60 s behind this machine's"]),
    ],
    ids=["alike", "ahead", "behind"],
)  # fmt: skip
async def test_another_clock_of_the_api_server_is_found(
    tmp_path: Path, date: str, expected: list[str]
) -> None:
    async def dated(_request: Request, reply: Reply) -> None:
        await reply.json({}, Date=date)

    async with serving(dated) as server:
        assert whats(await clock_of_api.look(checked(tmp_path, url=server.url))) == expected


async def test_stuck_deletions_say_what_holds_them(tmp_path: Path, server: FakeApiServer) -> None:
    assert whats(await deletions.look(checked(tmp_path, url=server.url))) == [
        "the namespace 'left' was deleted and still exists: 3 pods",
        "the node 'n1' was deleted and still exists: it has the finalizers x.io/y",
        "the thing 'held' in 'a' was deleted and still exists: it has the finalizers y.io/z",
    ]
    asked = [each.path for each in server.requests]
    assert not [path for path in asked if path.endswith(("/pods", "/events", "/v1beta1/things"))]


def with_stage(path: Path, saved: Saved, one: CheckedCluster) -> None:
    """Give a saved cluster a Stage."""
    from kwokctl.clusters.state.saved import save

    staged = replace(saved, stages=(STAGE,))
    save(one.paths, staged, staged.plan(one.runtime, one.paths))
