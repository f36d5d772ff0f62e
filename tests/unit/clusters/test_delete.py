import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kwokctl.clusters.delete import delete_all, delete_cluster
from kwokctl.clusters.state.context_files import remember_context_file
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import save
from kwokctl.errors import ConfigError, ConflictError, UnavailableError
from kwokctl.host.files import private_folder
from kwokctl.host.paths import WorkDir
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import ClusterName
from tests.support.fake_runtime import FakeRuntime
from tests.support.recorded_messages import RecordedMessages
from tests.unit.clusters.state.test_saved import SAVED

NAME = cluster_name("dev")
ORIGINALS = "kind: KwokctlConfiguration\noptions:\n  runtime: binary\nstatus:\n  version: v0.7.0\n"


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
def messages() -> RecordedMessages:
    return RecordedMessages()


@pytest.fixture
def home(tmp_path: Path, runtime: FakeRuntime, messages: RecordedMessages) -> Home:
    return Home(
        workdir=WorkDir(tmp_path), cache=tmp_path, load_runtime=runtime.load, progress=messages
    )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return where the user's kubeconfig is."""
    return tmp_path / "config"


@pytest.fixture
def sleeper() -> Iterator[Callable[[Path], int]]:
    """Start a process that sleeps in a folder, and return its number."""
    with ExitStack() as stack:

        def start(folder: Path) -> int:
            process = subprocess.Popen(["sleep", "600"], cwd=folder)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process.pid

        yield start


def made(home: Home, name: str = NAME) -> ClusterName:
    paths = home.paths(cluster_name(name))
    save(paths, SAVED, SAVED.plan(FakeRuntime(), paths))
    return cluster_name(name)


async def made_with_context(home: Home, config: Path, name: str, *, born: int = 0) -> ClusterName:
    """Make a cluster whose context is the current one, at a time."""
    cluster, context = made(home, name), f"kwok-{name}"
    paths = home.paths(cluster)
    paths.kubeconfig.write_text(
        entries.by_paths(context, "https://127.0.0.1:1", paths.pki, "admin")
    )
    paths.pki.mkdir()
    (paths.pki / "ca.crt").touch()
    os.utime(paths.pki / "ca.crt", (born, born))
    await entries.merge_context(config, paths.kubeconfig, context)
    return cluster


def originals(home: Home, text: str = ORIGINALS) -> Path:
    root = home.paths(NAME).root
    (root / "pids").mkdir(parents=True)
    (root / "kwok.yaml").write_text(text)
    return root


async def test_nothing_is_left_of_a_deleted_cluster(home: Home, runtime: FakeRuntime) -> None:
    name = made(home)

    assert await delete_cluster(home, name, kubeconfig=None, force=False)

    assert not home.paths(name).root.exists()
    assert runtime.asked == ["uninstall"]


async def test_nothing_is_left_of_sockets_that_are_elsewhere(
    tmp_path: Path, runtime: FakeRuntime
) -> None:
    workdir = WorkDir(tmp_path / ("too-long-for-sockets" * 5))
    home = Home(workdir=workdir, cache=tmp_path, load_runtime=runtime.load)
    name = made(home)
    paths = home.paths(name)
    sockets = private_folder(paths.sockets)
    paths.sockets_note.write_text(f"{sockets}\n")
    assert not sockets.is_relative_to(tmp_path)

    assert await delete_cluster(home, name, kubeconfig=None, force=False)

    assert not sockets.exists()


async def test_an_absent_cluster_is_no_error(home: Home) -> None:
    assert not await delete_cluster(home, NAME, kubeconfig=None, force=False)


async def test_a_cluster_whose_state_cannot_be_read_needs_force(home: Home) -> None:
    root = originals(home, "nonsense")

    with pytest.raises(ConfigError):
        await delete_cluster(home, NAME, kubeconfig=None, force=False)
    assert root.exists()

    assert await delete_cluster(home, NAME, kubeconfig=None, force=True)
    assert not root.exists()


async def test_all_leaves_the_clusters_of_the_original_alone(home: Home) -> None:
    root = originals(home)
    mine = made(home, "mine")

    deleted = await delete_all(home, kubeconfig=None, force=False)

    assert (deleted.names, deleted.left, deleted.failures) == ((mine,), (NAME,), {})
    assert root.exists()


async def test_one_cluster_that_fails_does_not_stop_the_others(home: Home) -> None:
    originals(home, "nonsense")
    mine = made(home, "mine")

    deleted = await delete_all(home, kubeconfig=None, force=False)

    assert deleted.names == (mine,)
    assert isinstance(deleted.failures[NAME], ConfigError)


async def test_a_cluster_whose_runtime_is_gone_needs_force(
    home: Home, runtime: FakeRuntime
) -> None:
    made(home)
    runtime.fails_at = {"uninstall": UnavailableError("no engine answers", hint="start it")}

    with pytest.raises(UnavailableError, match="no engine answers") as caught:
        await delete_cluster(home, NAME, kubeconfig=None, force=False)
    assert str(caught.value.hint).startswith("start it; or ")
    assert home.paths(NAME).saved.exists()

    assert await delete_cluster(home, NAME, kubeconfig=None, force=True)
    assert not home.paths(NAME).root.exists()
    assert runtime.asked[-1] == "uninstall"


async def test_a_cluster_of_the_original_needs_force_and_its_processes_end(
    home: Home, sleeper: Callable[[Path], int]
) -> None:
    root = originals(home)
    own, foreign = sleeper(root), sleeper(Path("/"))
    (root / "pids" / "etcd.pid").write_text(str(own))
    (root / "pids" / "reused.pid").write_text(str(foreign))

    with pytest.raises(ConflictError, match="made by the original"):
        await delete_cluster(home, NAME, kubeconfig=None, force=False)
    assert await delete_cluster(home, NAME, kubeconfig=None, force=True)

    assert os.waitpid(own, 0)[1] == signal.SIGKILL
    assert os.waitpid(foreign, os.WNOHANG) == (0, 0)
    assert not root.exists()


async def test_a_cluster_of_the_original_in_containers_is_left_to_it(home: Home) -> None:
    root = originals(home, ORIGINALS.replace("binary", "docker"))

    with pytest.raises(ConflictError, match="runtime 'docker'"):
        await delete_cluster(home, NAME, kubeconfig=None, force=True)

    assert root.exists()


@pytest.mark.parametrize("text", ["{ kwok-dev", "clusters: [kwok-dev]"])
async def test_a_garbled_kubeconfig_keeps_nothing_but_itself(
    home: Home, config: Path, messages: RecordedMessages, text: str
) -> None:
    name = await made_with_context(home, config, "dev")
    whole = config.read_text()
    config.write_text(text)

    with pytest.raises(ConfigError, match="'dev' is deleted, but its context 'kwok-dev'") as caught:
        await delete_cluster(home, name, kubeconfig=config, force=False)
    assert "delete cluster --name dev" in str(caught.value.hint)
    assert not home.paths(name).root.exists()
    assert config.read_text() == text

    config.write_text(whole)
    assert not await delete_cluster(home, name, kubeconfig=config, force=False)
    assert "kwok-dev" not in config.read_text()
    assert "left behind" in messages.lines[0]


async def test_a_garbled_kubeconfig_that_has_nothing_of_the_cluster_is_no_error(
    home: Home, config: Path
) -> None:
    config.write_text("{")

    assert await delete_cluster(home, made(home), kubeconfig=config, force=False)


async def test_a_context_of_a_cluster_that_is_not_here_stays(home: Home, config: Path) -> None:
    elsewhere = Home(workdir=WorkDir(config.parent / "elsewhere"), cache=config.parent)
    await made_with_context(elsewhere, config, "dev")

    assert not await delete_cluster(home, NAME, kubeconfig=config, force=False)

    assert entries.current_context(config) == "kwok-dev"


async def test_the_youngest_cluster_that_is_left_gets_the_current_context(
    home: Home, config: Path, messages: RecordedMessages
) -> None:
    await made_with_context(home, config, "older", born=1)
    await made_with_context(home, config, "younger", born=2)
    made(home, "untold")
    name = await made_with_context(home, config, "dev", born=3)

    await delete_cluster(home, name, kubeconfig=config, force=False)

    assert entries.current_context(config) == "kwok-younger"
    assert messages.lines == ["'kwok-younger' is the current context now"]


async def test_the_context_goes_from_each_kubeconfig_that_got_it(home: Home, config: Path) -> None:
    other = config.with_name("other")
    cluster = await made_with_context(home, other, "mine")
    remember_context_file(home.paths(cluster), other)

    await delete_cluster(home, cluster, kubeconfig=config, force=False)

    assert "kwok-mine" not in other.read_text()


async def test_no_kubeconfig_is_touched_where_none_is_to_be(home: Home, config: Path) -> None:
    cluster = await made_with_context(home, config, "mine")
    remember_context_file(home.paths(cluster), config)

    await delete_cluster(home, cluster, kubeconfig=None, force=False)

    assert "kwok-mine" in config.read_text()


async def test_another_current_context_stays(
    home: Home, config: Path, messages: RecordedMessages
) -> None:
    await made_with_context(home, config, "other")
    name = await made_with_context(home, config, "dev")
    config.write_text(config.read_text().replace("current-context: kwok-dev", "current-context: x"))

    await delete_cluster(home, name, kubeconfig=config, force=False)

    assert entries.current_context(config) == "x"
    assert messages.lines == []


async def test_when_all_go_no_context_is_current(
    home: Home, config: Path, messages: RecordedMessages
) -> None:
    await made_with_context(home, config, "b")
    await made_with_context(home, config, "a")

    await delete_all(home, kubeconfig=config, force=False)

    assert entries.current_context(config) == ""
    assert messages.lines == ["the kubeconfig has no current context now"]
