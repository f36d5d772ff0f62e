"""What is the docker runtime's own and needs no engine; what every runtime does is in `tests/contract`."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from kwokctl.errors import ArtifactError, ComponentError, UnavailableError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KWOK_CONTROLLER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    Plan,
    State,
)
from runtimes.docker.engine_runtime import DockerSite, EngineRuntime
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from tests.support.fake_engine import FakeEngine

CLUSTER = ClusterName("c")
CONTROLLER = Component(
    name=KWOK_CONTROLLER,
    artifact=Artifact(name=KWOK_CONTROLLER, version="v0", command=("/bin/sleep",)),
    args=("600",),
)
IN_IMAGE = Component(
    name=ETCD, artifact=Artifact(name=ETCD, version="v3", image="registry.example/etcd:v3")
)
SITE = DockerSite(shares_sockets=True)
SOCKET = Path("/home/me/run/etcd.sock")


@pytest.fixture
def fake(fake: FakeEngine) -> FakeEngine:
    """An engine that has nothing yet."""
    fake.answers |= {
        "GET /containers/json": (200, []),
        "GET /networks": (200, [{"Name": "kwok-c", "Id": "n"}]),
        "DELETE /networks/n": (204, None),
        "POST /containers/create": (201, {"Id": "1"}),
    }
    return fake


@pytest.fixture
def runtime(fake: FakeEngine, tmp_path: Path) -> EngineRuntime:
    return made(tmp_path, fake.url)


def made(folder: Path, url: str) -> EngineRuntime:
    return EngineRuntime(Host(WorkDir(folder)), Engine(Endpoint(url=url)), grace=0.05)


def plan(*components: Component) -> Plan:
    return Plan(cluster=CLUSTER, components={c.name: c for c in components})


def container(specification: str, state: str = "exited") -> list[dict[str, Any]]:
    labels = {"io.kwokctl.component": ETCD, "io.kwokctl.specification": specification}
    return [{"Id": "1", "Names": ["/kwok-c-etcd"], "State": state, "Labels": labels}]


async def test_the_controller_is_a_process_of_this_host(
    runtime: EngineRuntime, fake: FakeEngine
) -> None:
    await runtime.install(plan(CONTROLLER))
    await runtime.start(CLUSTER)
    assert await runtime.states(CLUSTER) == {KWOK_CONTROLLER: State.RUNNING}

    await runtime.uninstall(CLUSTER)

    assert await runtime.states(CLUSTER) == {}
    assert not [asked for asked in fake.asked if asked.startswith("POST /containers")]


async def test_the_controller_ends_although_the_engine_is_gone(
    runtime: EngineRuntime, tmp_path: Path
) -> None:
    await runtime.install(plan(CONTROLLER))
    await runtime.start(CLUSTER)

    with pytest.raises(UnavailableError):
        await made(tmp_path, f"unix://{tmp_path}/gone.sock").uninstall(CLUSTER)

    assert await runtime.states(CLUSTER) == {}


@pytest.mark.parametrize(("state", "remade"), [("exited", True), ("running", False)])
async def test_a_container_with_other_settings_is_recreated_unless_it_runs(
    runtime: EngineRuntime, fake: FakeEngine, state: str, remade: bool
) -> None:
    fake.answers |= {
        "GET /containers/json": (200, container("of long ago", state)),
        "GET /images/registry.example/etcd:v3/json": (200, {}),
        "DELETE /containers/1": (204, None),
    }

    await runtime.install(plan(IN_IMAGE))

    assert ("DELETE /containers/1" in fake.asked) is remade
    assert ("POST /containers/create" in fake.asked) is remade


async def test_an_image_that_is_given_and_not_there_is_an_error_with_the_remedy(
    runtime: EngineRuntime,
) -> None:
    with pytest.raises(ArtifactError, match=r"'registry\.example/etcd:v3' of 'etcd'") as e:
        await runtime.install(plan(IN_IMAGE))

    assert e.value.hint == "docker pull registry.example/etcd:v3"


async def test_starting_a_missing_container_is_an_error(runtime: EngineRuntime) -> None:
    with pytest.raises(ComponentError, match="its container is gone"):
        await runtime.start(CLUSTER, ETCD)


async def test_an_engine_of_another_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="another machine's"):
        await made(tmp_path, "tcp://192.0.2.1:2375").check()


async def test_a_site_is_returned_without_an_engine(tmp_path: Path) -> None:
    site = made(tmp_path, "tcp://127.0.0.1:1").site(CLUSTER)

    assert site.socket(Path("/run/etcd.sock")) is None


def test_mounted_files_have_the_same_path_as_on_the_host() -> None:
    assert SITE.path(Path("/home/me/pki")) == PurePosixPath("/home/me/pki")


def test_a_socket_is_offered_only_where_it_works() -> None:
    assert SITE.socket(SOCKET) == PurePosixPath(SOCKET)
    assert DockerSite(shares_sockets=False).socket(SOCKET) is None


@pytest.mark.parametrize(
    ("dialler", "address"),
    [
        (None, "127.0.0.1:6443"),
        (KWOK_CONTROLLER, "127.0.0.1:6443"),
        (ETCD, "kube-apiserver:6443"),
    ],
)
def test_containers_dial_names_and_the_host_dials_published_ports(
    dialler: ComponentName | None, address: str
) -> None:
    assert SITE.address(KUBE_APISERVER, 6443, dialler=dialler) == address


def test_only_components_in_their_own_network_listen_on_all_addresses() -> None:
    assert SITE.bind(ETCD) == "0.0.0.0"
    assert SITE.bind(KWOK_CONTROLLER) == "127.0.0.1"


async def test_a_component_is_dialled_at_the_address_of_its_container(
    runtime: EngineRuntime, fake: FakeEngine
) -> None:
    fake.answers |= {
        "GET /containers/json": (200, container("x", "running")),
        "GET /containers/1/json": (
            200,
            {"NetworkSettings": {"Networks": {"kwok-c": {"IPAddress": "172.18.0.2"}}}},
        ),
    }
    assert await runtime.host_of(CLUSTER, ETCD) == "172.18.0.2"
    assert await runtime.host_of(CLUSTER, KWOK_CONTROLLER) == "127.0.0.1"

    fake.answers["GET /containers/1/json"] = (200, {})
    assert await runtime.host_of(CLUSTER, ETCD) == ""


async def test_the_runtime_describes_its_engine(runtime: EngineRuntime, fake: FakeEngine) -> None:
    fake.answers["GET /info"] = (200, {"CgroupVersion": "2"})
    described = await runtime.description(CLUSTER)
    assert f"endpoint: {fake.url}\n" in described
    assert "Version: '20.10'\n" in described or 'Version: "20.10"\n' in described
    assert 'CgroupVersion: "2"' in described or "CgroupVersion: '2'" in described


async def test_what_remains_of_this_work_folder_s_clusters_is_found(
    runtime: EngineRuntime, fake: FakeEngine, tmp_path: Path
) -> None:
    root = str(tmp_path / "clusters" / CLUSTER)
    fake.answers["GET /containers/json"] = (
        200,
        [
            {
                "Id": name,
                "Names": [f"/{name}"],
                "Labels": {"io.kwokctl.cluster": CLUSTER, "io.kwokctl.folder": folder},
                "State": "exited",
            }
            for name, folder in (("ours", root), ("theirs", "/elsewhere/clusters/c"))
        ],
    )

    assert await runtime.remains() == {CLUSTER: ["ours"]}
