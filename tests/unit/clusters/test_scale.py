import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.dry_run.scale_steps import scale_steps
from kwokctl.clusters.scale import scale
from kwokctl.clusters.scaling.objects.networks import NAME as POSITIONS
from kwokctl.clusters.scaling.objects.parameters import NAME as PARAMETERS
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved, save
from kwokctl.config.config_documents import Document
from kwokctl.errors import ApiError, BusyError, NotFoundError, UnavailableError, UsageError
from kwokctl.host.noted_locks import locked, turn
from kwokctl.host.paths import WorkDir
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import CONFIG_MAPS, NODES, PODS
from kwokctl.model import ETCD, ClusterName, NodeAddress, State
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from kwokctl.runtime import Site
from kwokctl.script.steps import Comment
from tests.support import fake_etcd
from tests.support.cluster_server import ClusterServer
from tests.support.controller_answers import answers, serving_controller
from tests.support.eventually import eventually
from tests.support.fake_api_server import serving
from tests.support.fake_cluster import FakeCluster
from tests.support.fake_runtime import FakeRuntime
from tests.support.installed import taken_port
from tests.support.listener import Listener
from tests.support.options import changed
from tests.support.sites import HostLikeSite
from tests.unit.clusters.state.test_saved import SAVED


class RecordedWarnings(Silent):
    """Keeps what the user is warned of."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


NAME = cluster_name("dev")
THREE_NODES = ScaleRequest(kind="node", replicas=3)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    load = FakeRuntime().load
    return Home(workdir=WorkDir(tmp_path / "work"), cache=tmp_path, load_runtime=load)


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster(NODES, PODS, CONFIG_MAPS)


@asynccontextmanager
async def reachable(cluster: FakeCluster, path: Path) -> AsyncIterator[Path]:
    """Serve a cluster, and write the kubeconfig that leads to it."""
    async with serving(ClusterServer(cluster)) as server:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(config))
        yield path


@asynccontextmanager
async def ours(home: Home, cluster: FakeCluster, saved: Saved = SAVED) -> AsyncIterator[None]:
    """Have a cluster of kwokctl's own, with an etcd that answers."""
    paths = home.paths(NAME)
    save(paths, saved, saved.plan(FakeRuntime(), paths))
    paths.sockets.mkdir()
    async with reachable(cluster, paths.own_kubeconfig):
        with fake_etcd.serving(fake_etcd.FakeEtcd(), paths.etcd_socket):
            yield


def names(cluster: FakeCluster) -> list[str]:
    """Return the names of all objects but the one that remembers positions."""
    return sorted(name for _, _, name in cluster.objects if name != POSITIONS)


@pytest.mark.parametrize("kind", ["node", "nodes"])
async def test_any_cluster_that_a_kubeconfig_leads_to_can_be_scaled(
    home: Home, cluster: FakeCluster, tmp_path: Path, kind: str
) -> None:
    request = replace(THREE_NODES, kind=kind)
    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        result = await scale(home, NAME, request, documents=(), kubeconfig=kubeconfig)

    assert result == ScaleResult(kind="Node", name="node", created=3)
    assert names(cluster) == ["node-000000", "node-000001", "node-000002"]
    assert not home.workdir.clusters.exists()


async def test_two_sets_of_nodes_have_different_networks_and_addresses(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        for name in ("a", "b"):
            request = ScaleRequest(kind="node", name=name, replicas=2)
            await scale(home, NAME, request, documents=(), kubeconfig=kubeconfig)

    nodes = [body for (plural, _, _), body in cluster.objects.items() if plural == "nodes"]
    assert len({node["spec"]["podCIDR"] for node in nodes}) == 4
    assert len({node["status"]["addresses"][0]["address"] for node in nodes}) == 4


async def test_positions_are_stored_in_a_namespace_that_is_created_a_little_later(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.refuse.append(ApiError("namespaces not found", status=404, reason="NotFound"))

    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        await scale(home, NAME, THREE_NODES, documents=(), kubeconfig=kubeconfig)

    assert names(cluster) == ["node-000000", "node-000001", "node-000002"]
    assert ("configmaps", "kube-system", POSITIONS) in cluster.objects


async def test_scale_warns_when_positions_cannot_be_stored(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.refuse.append(ApiError("no", status=403, reason="Forbidden"))
    messages = RecordedWarnings()

    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        telling = replace(home, progress=messages)
        await scale(telling, NAME, THREE_NODES, documents=(), kubeconfig=kubeconfig)

    assert names(cluster) == ["node-000000", "node-000001", "node-000002"]
    assert any("may be repeated" in line for line in messages.warnings)


async def test_a_set_remembers_its_parameters_and_a_dry_run_shows_them(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    params = ('.allocatable.cpu = "7"',)
    more = replace(THREE_NODES, replicas=4)
    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        asked: Any = {"documents": (), "kubeconfig": kubeconfig}
        await scale(home, NAME, replace(THREE_NODES, params=params), **asked)
        steps = await scale_steps(home, NAME, more, **asked)
        await scale(home, NAME, more, **asked)
        await scale(home, NAME, replace(THREE_NODES, replicas=5, params=(".",)), **asked)
        del cluster.objects["nodes", "", "node-000001"]
        mixed = await scale_steps(home, NAME, replace(more, replicas=5), **asked)

    assert Comment(f"Parameters of new ones: --param '{params[0]}'") in steps
    assert Comment(f"Parameters of node-000001, as before: --param '{params[0]}'") in mixed
    new = cluster.objects["nodes", "", "node-000003"]
    assert new["status"]["allocatable"]["cpu"] == "7"
    assert ("configmaps", "kube-system", PARAMETERS) in cluster.objects


async def test_a_cluster_made_by_kwokctl_is_scaled_by_its_name(
    home: Home, cluster: FakeCluster
) -> None:
    async with ours(home, cluster):
        await scale(home, NAME, THREE_NODES, documents=())
        again = await scale(home, NAME, THREE_NODES, documents=())
        fewer = await scale(home, NAME, ScaleRequest(kind="node", replicas=1), documents=())

    assert again.is_unchanged
    assert (fewer.deleted, fewer.existing) == (2, 3)
    assert names(cluster) == ["node-000000"]


class _Late(HostLikeSite):
    """A site that has the address of the controller only when the cluster runs, as kind's."""

    def node_address(self) -> NodeAddress:
        return NodeAddress(name="gateway", ip="gateway")


class _LateRuntime(FakeRuntime):
    def site(self, cluster: ClusterName) -> Site:
        return _Late()


async def _addresses_of_a_new_node(
    home: Home, cluster: FakeCluster, saved: Saved
) -> list[dict[str, str]]:
    """Scale to one node where only the controller knows its own address; return the node's."""
    runtime = _LateRuntime()
    paths, home = home.paths(NAME), replace(home, load_runtime=runtime.load)
    async with ours(home, cluster):
        save(paths, saved, saved.plan(runtime, paths))
        paths.controller_token.write_text("secret")
        request = ScaleRequest(kind="node", replicas=1)
        await scale(home, NAME, request, documents=(), data_path="api")
    addresses: list[dict[str, str]] = cluster.objects["nodes", "", "node-000000"]["status"][
        "addresses"
    ]
    return addresses


async def test_new_nodes_have_the_kubelets_address_that_only_the_controller_knows(
    home: Home, cluster: FakeCluster
) -> None:
    messages = answers(kubelet=b'{"address":"172.18.0.1","port":1234}')
    async with serving_controller(messages) as port:
        options = changed(SAVED.options, controller_port=port)
        addresses = await _addresses_of_a_new_node(home, cluster, replace(SAVED, options=options))

    assert {"type": "kwokctl.dev/Kubelet", "address": "172.18.0.1"} in addresses


async def test_nodes_are_made_without_an_answer_of_the_controller_too(
    home: Home, cluster: FakeCluster
) -> None:
    with taken_port() as port:
        pass
    options = changed(SAVED.options, controller_port=port)

    addresses = await _addresses_of_a_new_node(home, cluster, replace(SAVED, options=options))

    assert "kwokctl.dev/Kubelet" not in {address["type"] for address in addresses}


async def test_etcd_is_not_written_to_in_a_cluster_of_others(home: Home, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--data-path etcd"):
        await scale(
            home, NAME, THREE_NODES, documents=(), kubeconfig=tmp_path / "x", data_path="etcd"
        )


async def test_a_cluster_that_does_not_exist_is_named(home: Home) -> None:
    with pytest.raises(NotFoundError, match="dev"):
        await scale(home, NAME, THREE_NODES, documents=())


async def test_scale_is_refused_while_another_command_holds_the_lock(
    home: Home, cluster: FakeCluster
) -> None:
    lock = home.workdir.cluster_lock(NAME)

    async with ours(home, cluster):
        with locked(lock, what="it"), pytest.raises(BusyError):
            await scale(home, NAME, THREE_NODES, documents=())
        with locked(lock, what="it", shared=True):
            await scale(home, NAME, THREE_NODES, documents=())

    assert len(names(cluster)) == 3


async def test_a_cluster_that_is_stopped_is_named_with_how_to_start_it(
    home: Home, cluster: FakeCluster
) -> None:
    paths = home.paths(NAME)
    save(paths, SAVED, SAVED.plan(FakeRuntime(), paths))

    async with reachable(cluster, paths.own_kubeconfig):
        with pytest.raises(UnavailableError, match="the cluster 'dev' is stopped") as caught:
            await scale(home, NAME, THREE_NODES, documents=())

    assert caught.value.hint == "start it with: kwokctl start cluster --name dev"


async def test_components_that_do_not_run_are_named(home: Home, cluster: FakeCluster) -> None:
    runtime = FakeRuntime(found=dict.fromkeys(SAVED.names, State.RUNNING))
    runtime.found |= {ETCD: State.STOPPED}
    home = replace(home, load_runtime=runtime.load)
    paths = home.paths(NAME)
    save(paths, SAVED, SAVED.plan(runtime, paths))

    async with reachable(cluster, paths.own_kubeconfig):
        with pytest.raises(UnavailableError, match="'etcd' of the cluster 'dev' does not run"):
            await scale(home, NAME, THREE_NODES, documents=())

    assert not cluster.objects


async def test_a_set_is_changed_by_one_run_at_a_time(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    listener = Listener()
    home = replace(home, progress=listener)
    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        server = load_access(kubeconfig).server
        lock = home.workdir.set_lock(f"{server} /api/v1/nodes node")

        async with (
            asyncio.TaskGroup() as runs,
            turn(lock, doing="scaling 'node' to 100", waiting=print),
        ):
            for request in (THREE_NODES, replace(THREE_NODES, name="other")):
                runs.create_task(scale(home, NAME, request, documents=(), kubeconfig=kubeconfig))
            await eventually(lambda: len(names(cluster)) == 3 and listener.notes)
            assert all(name.startswith("other") for name in names(cluster))

    assert len(names(cluster)) == 6
    assert listener.notes == [f"waiting: process {os.getpid()} is scaling 'node' to 100"]


async def test_scale_warns_when_the_folder_cannot_hold_locks(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    listener = Listener()
    home.workdir.root.write_text("not a folder")
    home = replace(home, progress=listener)

    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        await scale(home, NAME, THREE_NODES, documents=(), kubeconfig=kubeconfig)

    assert len(names(cluster)) == 3
    assert "do not scale this set twice at a time" in listener.warnings[0]


async def test_the_users_own_templates_make_objects_of_any_kind(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    template = (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ Name }}}, data: {a: {{ .b }}}}"
    )
    document = Document(
        kind="KwokctlResource",
        api_version="",
        name="settings",
        body={"template": template, "parameters": {"b": "c"}},
        source="mine.yaml, document 1",
    )
    request = ScaleRequest(kind="settings", replicas=2, wait=5)

    async with reachable(cluster, tmp_path / "theirs") as kubeconfig:
        await scale(home, NAME, request, documents=[document], kubeconfig=kubeconfig)

    stored = cluster.objects["configmaps", "default", "settings-000001"]
    assert stored["data"] == {"a": "c"}


def settings(value: str) -> dict[str, Any]:
    """Return a template that makes objects with a value."""
    template = "{apiVersion: v1, kind: ConfigMap, data: {a: {{ .b }}}}"
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlResource",
        "metadata": {"name": "settings"},
        "template": template,
        "parameters": {"b": value},
    }


@pytest.mark.parametrize(("given", "found"), [((), "of-creation"), (("given",), "given")])
async def test_templates_of_the_creation_stay_with_a_cluster_behind_those_that_are_given(
    home: Home, cluster: FakeCluster, given: tuple[str, ...], found: str
) -> None:
    documents = [
        Document(kind=body["kind"], api_version="", name="settings", body=body, source="mine.yaml")
        for body in map(settings, given)
    ]
    saved = replace(SAVED, templates=(settings("of-creation"),))

    async with ours(home, cluster, saved):
        request = ScaleRequest(kind="settings")
        await scale(home, NAME, request, documents=documents, data_path="api")

    assert cluster.objects["configmaps", "default", "settings-000000"]["data"] == {"a": found}


async def test_another_cluster_has_not_the_templates_of_this_one(
    home: Home, cluster: FakeCluster, tmp_path: Path
) -> None:
    saved = replace(SAVED, templates=(settings("of-creation"),))
    async with ours(home, cluster, saved), reachable(cluster, tmp_path / "theirs") as kubeconfig:
        with pytest.raises(UsageError, match="no resource template called 'settings'"):
            await scale(
                home, NAME, ScaleRequest(kind="settings"), documents=(), kubeconfig=kubeconfig
            )


@pytest.mark.parametrize(
    ("program", "warnings"),
    [
        (
            ".alocatable.cpu = 1",
            [
                "the template 'node' does not mention the parameter 'alocatable'; did you mean 'allocatable'?"
            ],
        ),
        (".foo.bar = 3", ["the template 'node' does not mention the parameter 'foo'"]),
        (".allocatable.gpu = 1", []),
    ],
)
async def test_a_parameter_that_the_template_does_not_use_is_named(
    home: Home, program: str, warnings: list[str]
) -> None:
    messages = RecordedWarnings()
    request = ScaleRequest(kind="node", params=(program,))

    with pytest.raises(NotFoundError, match="no cluster called 'dev'"):
        await scale(replace(home, progress=messages), NAME, request, documents=[])

    assert messages.warnings == warnings
