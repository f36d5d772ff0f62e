import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.tools import Command, etcdctl_command, etcdutl_command, kubectl_command
from kwokctl.errors import ComponentError
from kwokctl.model import ClusterName
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.recorded_messages import RecordedMessages
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


@pytest.fixture
def port() -> Iterator[int]:
    """Hold a port on which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def home(tmp_path: Path, port: int) -> Home:
    """Save a cluster whose API server and etcd have that port."""
    options = cluster_options(
        runtime="fake",
        kubectl_binary="/bin/true",
        etcdctl_binary="/bin/true",
        etcdutl_binary="/bin/true",
        kube_apiserver_port=port,
        etcd_port=port,
    )
    return home_with(tmp_path, NAME, options, FakeRuntime())


@pytest.mark.parametrize("command", [kubectl_command, etcdctl_command])
async def test_a_tool_for_a_stopped_cluster_is_not_run_but_the_remedy_named(
    home: Home, command: Callable[[Home, ClusterName], Awaitable[Command]]
) -> None:
    home.paths(NAME).stopped.touch()

    with pytest.raises(ComponentError, match="the cluster 'dev' is stopped") as caught:
        await command(home, NAME)

    assert caught.value.hint == "start it with: kwokctl start cluster --name dev"


async def test_a_server_that_has_died_is_named_with_its_log(home: Home) -> None:
    with pytest.raises(ComponentError, match="has no kube-apiserver that listens at") as caught:
        await kubectl_command(home, NAME)

    assert "kwokctl --name dev logs kube-apiserver" in str(caught.value.hint)


async def test_what_needs_no_server_runs_all_the_same(home: Home) -> None:
    argv, _ = await kubectl_command(home, NAME, dials=False)

    assert argv == ["/bin/true", f"--kubeconfig={home.paths(NAME).kubeconfig}"]


@pytest.mark.parametrize(
    ("listening", "warnings"),
    [
        ("", []),
        (
            "kubeApiserverPort: ",
            [
                (
                    "'etcd' of the cluster 'dev' does not run, so that most requests time out; "
                    "start it with: kwokctl start cluster --name dev"
                )
            ],
        ),
    ],
)
async def test_kubectl_runs_when_its_server_listens_and_a_dead_etcd_is_named(
    home: Home, port: int, listening: str, warnings: list[str]
) -> None:
    messages = RecordedMessages()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        path, number = home.paths(NAME).saved, server.getsockname()[1]
        text = path.read_text().replace(f"{listening}{port}", f"{listening}{number}")
        path.write_text(text)

        argv, _ = await kubectl_command(replace(home, progress=messages), NAME)

    assert argv[0] == "/bin/true"
    assert messages.lines == warnings


async def test_etcdutl_works_on_files_so_its_cluster_need_not_run(home: Home) -> None:
    home.paths(NAME).stopped.touch()
    assert await etcdutl_command(home, NAME) == (["/bin/true"], {})
