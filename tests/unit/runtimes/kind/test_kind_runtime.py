"""What is the kind runtime's own and needs no engine; what it does with one is in `tests/e2e`."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ArtifactError, ComponentError, ConflictError, UnavailableError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import (
    ETCD,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    Plan,
    State,
)
from kwokctl.replacing import replace
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.kind.kind_runtime import KindRuntime
from runtimes.kind.nodes.node_creation import Creation
from runtimes.kind.provider import Provider
from tests.support.fake_engine import FakeEngine
from tests.unit.runtimes.kind.plans import OPTIONS, plan

CLUSTER = ClusterName("dev")
NODE = "kwok-dev-control-plane"
MORE = ComponentName("metrics")
METRICS = Component(
    name=MORE, artifact=Artifact(name=MORE, version="v1", image="example/metrics:v1")
)


@pytest.fixture
def fake(fake: FakeEngine) -> FakeEngine:
    """An engine that has no container yet."""
    fake.answers |= {
        "GET /containers/json": (200, []),
        "GET /info": (200, {"CgroupVersion": "2"}),
        "POST /images/create": (500, {"message": "no such host"}),
    }
    return fake


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(WorkDir(tmp_path))


@pytest.fixture
def runtime(fake: FakeEngine, host: Host) -> KindRuntime:
    return made(host, fake.url)


def made(host: Host, url: str, *, command: str = "true") -> KindRuntime:
    engine = Engine(Endpoint(url=url))
    return KindRuntime(host, Provider(runtime="kind", command=command, engine=engine), grace=0.05)


def planned(host: Host) -> Plan:
    """A cluster whose controller is a program that does nothing."""
    found = plan(OPTIONS, paths=host.cluster(CLUSTER))
    idle = Artifact(name=KWOK_CONTROLLER, version="v0", command=("/bin/sleep", "600"))
    controller = replace(found.components[KWOK_CONTROLLER], artifact=idle, args=())
    return replace(found, components={**found.components, KWOK_CONTROLLER: controller})


def node(*, sees: str, state: str = "exited", role: str = "control-plane") -> dict[str, Any]:
    return {
        "Id": "1",
        "Names": [f"/{NODE}"],
        "State": state,
        "Labels": {"io.x-k8s.kind.cluster": "kwok-dev", "io.x-k8s.kind.role": role},
        "Mounts": [{"Source": sees}],
    }


def has_stopped_node(fake: FakeEngine, host: Host) -> None:
    """Have a node that was made to its end."""
    root = host.cluster(CLUSTER).root
    (root / "kind").mkdir(parents=True)
    (root / "kind" / "made").write_text("1")
    fake.answers |= {
        "GET /containers/json": (200, [node(sees=str(root))]),
        "GET /containers/1/json": (200, {}),
    }


async def test_without_the_command_that_kind_uses_it_cannot_run(host: Host) -> None:
    with pytest.raises(UnavailableError, match="no 'nowhere-to-be-found' on PATH"):
        await made(host, "unix:///nobody", command="nowhere-to-be-found").check()


async def test_a_work_folder_that_kind_cannot_mount_is_refused_by_name(tmp_path: Path) -> None:
    host = Host(WorkDir(tmp_path / "a:b"))

    with pytest.raises(UnavailableError, match=r"work folder '.*a:b'"):
        await made(host, "unix:///nobody").check()


async def test_a_folder_that_no_engine_creates_for_kind_is_refused_by_name(
    fake: FakeEngine, tmp_path: Path
) -> None:
    engine = Engine(Endpoint(url=fake.url))
    provider = Provider(
        runtime="kind-podman", command="true", engine=engine, mounted=tmp_path / "modules"
    )

    with pytest.raises(UnavailableError, match=r"kind mounts the folder '.*modules'") as refused:
        await provider.check()

    assert "mkdir" in str(refused.value.hint)
    (tmp_path / "modules").mkdir()
    await provider.check()


async def test_an_engine_of_another_machine_is_refused(host: Host) -> None:
    with pytest.raises(UnavailableError, match="another machine's"):
        await made(host, "tcp://192.0.2.1:2375").check()


async def test_a_foreign_cluster_of_the_same_name_is_left_alone(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    fake.answers["GET /containers/json"] = (200, [node(sees="/somewhere/else")])

    with pytest.raises(ConflictError, match="a cluster called 'kwok-dev'") as caught:
        await runtime.install(planned(host))
    assert "kind delete cluster --name kwok-dev" in str(caught.value.hint)

    await runtime.uninstall(CLUSTER)
    assert not [asked for asked in fake.asked if asked.startswith("DELETE")]


async def test_all_nodes_of_our_cluster_are_removed_made_to_their_end_or_not(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    ours = node(sees=str(host.cluster(CLUSTER).root))
    worker = {**node(sees="", role="worker"), "Id": "2"}
    fake.answers["GET /containers/json"] = (200, [ours, worker])
    fake.answers |= {f"DELETE /containers/{number}": (204, None) for number in (1, 2)}
    fake.answers |= {
        "GET /volumes": (200, {"Volumes": [{"Name": "v"}]}),
        "DELETE /volumes/v": (204, None),
    }

    await runtime.uninstall(CLUSTER)

    assert {"DELETE /containers/1", "DELETE /containers/2", "DELETE /volumes/v"} <= set(fake.asked)


async def test_a_node_that_was_not_made_to_its_end_counts_as_none(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    ours = node(sees=str(host.cluster(CLUSTER).root), state="running")
    fake.answers["GET /containers/json"] = (200, [ours])

    assert set((await runtime.states(CLUSTER)).values()) <= {State.STOPPED}
    assert not [asked for asked in fake.asked if "/top" in asked]


async def test_an_image_that_is_not_available_is_an_error_with_a_hint(
    runtime: KindRuntime, host: Host
) -> None:
    with pytest.raises(ArtifactError, match=r"'kindest/node:v1\.36\.3'") as caught:
        await runtime.install(planned(host))

    assert "KWOK_KIND_NODE_IMAGE" in str(caught.value.hint)


async def test_a_node_is_recreated_from_its_former_image(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    """Though that was loaded from a file which is not there any more."""
    before = Creation(project="p", program="kind", image="mine/node:v1", pod_subnet="")
    (host.cluster(CLUSTER).root / "kind").mkdir(parents=True)
    before.save(host.cluster(CLUSTER).root / "kind")
    fake.answers["GET /images/mine/node:v1/json"] = (200, {"Config": {"Labels": None}})
    found = planned(host)
    assert found.maker

    await runtime.install(replace(found, maker=replace(found.maker, image="/gone/node.tar")))

    assert Creation.load(host.cluster(CLUSTER).root / "kind").image == "mine/node:v1"


async def start_with_a_kind_that_fails(
    runtime: KindRuntime, fake: FakeEngine, host: Host, said: str
) -> tuple[int, str]:
    """Start, and return how often nodes were removed, and what each run of kind has found in the folder of etcd."""
    root, data = host.cluster(CLUSTER).root, host.cluster(CLUSTER).etcd_data
    for folder in (root / "kind", data):
        folder.mkdir(parents=True)
    kind, found = root / "kind-that-fails", root / "found"
    kind.write_text(
        f"#!/bin/sh\nls {data} >> {found}\ntouch {data}/member\necho '{said}' >&2\nexit 1\n"
    )
    kind.chmod(0o755)
    Creation(project="p", program=str(kind), image="i", pod_subnet="").save(root / "kind")
    fake.answers |= {
        "GET /containers/json": (200, [node(sees=str(root))]),
        "DELETE /containers/1": (204, None),
        "GET /volumes": (200, {"Volumes": []}),
    }

    with pytest.raises(ComponentError, match="cannot make the cluster"):
        await runtime.start(CLUSTER, ETCD)

    return fake.asked.count("DELETE /containers/1"), found.read_text()


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: node(s) already exist for a cluster",
        "Command Output: error: no objects passed to apply",
        "file should only be one line, got 0 lines",
        "kubeadm KUBECONFIG should have one cluster, but read 0",
    ],
    ids=["a node of a killed run", "a lost manifest", "a lost version", "a lost kubeconfig"],
)
async def test_what_another_try_may_mend_is_tried_again_from_nothing(
    runtime: KindRuntime, fake: FakeEngine, host: Host, said: str
) -> None:
    # Before kind begins, and after each time that it fails.
    assert await start_with_a_kind_that_fails(runtime, fake, host, said) == (1 + 4, "")


async def test_another_failure_of_kind_is_not_tried_again(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    said = "ERROR: failed to init node with kubeadm"

    assert await start_with_a_kind_that_fails(runtime, fake, host, said) == (1 + 1, "")


@pytest.mark.parametrize("state", ["created", "running"])
async def test_the_ports_of_a_half_made_node_are_in_use_for_its_cluster(
    runtime: KindRuntime, fake: FakeEngine, host: Host, state: str
) -> None:
    """An engine publishes them before it says that the container runs."""
    root = host.cluster(CLUSTER).root
    patches = root / "kind" / "patches"
    patches.mkdir(parents=True)
    (patches / "etcd+strategic.yaml").touch()
    assert await runtime.published(CLUSTER) == ()

    fake.answers["GET /containers/json"] = (200, [node(sees=str(root), state=state)])

    assert list(await runtime.published(CLUSTER)) == [ETCD]


async def test_the_controller_is_a_process_of_this_host_and_ends_although_the_engine_is_gone(
    runtime: KindRuntime, host: Host
) -> None:
    with pytest.raises(ArtifactError):
        await runtime.install(planned(host))
    await runtime.start(CLUSTER, KWOK_CONTROLLER)
    assert (await runtime.states(CLUSTER))[KWOK_CONTROLLER] is State.RUNNING

    with pytest.raises(UnavailableError):
        await made(host, "unix:///nobody").uninstall(CLUSTER)

    assert await runtime.states(CLUSTER) == {}


async def test_what_was_never_installed_cannot_be_started(runtime: KindRuntime) -> None:
    with pytest.raises(ComponentError, match="settings of the node are missing"):
        await runtime.start(CLUSTER, KUBE_SCHEDULER)


async def test_another_component_is_installed_in_its_image_and_forgotten_with_the_plan(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    has_stopped_node(fake, host)
    fake.answers["GET /images/example/metrics:v1/json"] = (200, {"Id": "sha256:1"})
    without = planned(host)
    await runtime.install(replace(without, components={**without.components, MORE: METRICS}))
    assert (await runtime.states(CLUSTER))[MORE] is State.STOPPED

    await runtime.install(without)

    assert MORE not in await runtime.states(CLUSTER)


async def test_an_image_of_another_component_that_is_not_there_is_an_error_with_a_remedy(
    runtime: KindRuntime, fake: FakeEngine, host: Host
) -> None:
    has_stopped_node(fake, host)
    without = planned(host)

    with pytest.raises(ArtifactError, match=r"'example/metrics:v1' of 'metrics'") as caught:
        await runtime.install(replace(without, components={**without.components, MORE: METRICS}))

    assert caught.value.hint == "docker pull example/metrics:v1"


async def test_kind_itself_exports_what_it_knows_of_its_node(
    runtime: KindRuntime, fake: FakeEngine, host: Host, tmp_path: Path
) -> None:
    kind = tmp_path / "kind"
    kind.write_text('#!/bin/sh\necho "$KIND_EXPERIMENTAL_PROVIDER $*"\n')
    kind.chmod(0o700)
    folder = host.cluster(CLUSTER).root / "kind"
    folder.mkdir(parents=True)
    Creation(project="kwok-dev", program=str(kind), image="i", pod_subnet="s").save(folder)

    assert (await runtime.description(CLUSTER)).startswith("true version\nendpoint: ")
    kind.write_text('#!/bin/sh\necho "$*" > "$3/kind.txt"\n')
    (tmp_path / "out").mkdir()
    await runtime.collect(CLUSTER, tmp_path / "out")
    words = (tmp_path / "out" / "kind.txt").read_text()
    assert words == f"export logs {tmp_path / 'out'} --name=kwok-dev\n"
    assert await runtime.host_of(CLUSTER, ETCD) == ""
    assert await runtime.host_of(CLUSTER, KWOK_CONTROLLER) == "127.0.0.1"
