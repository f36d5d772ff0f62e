import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.create import CreateRequest, create_cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.config.options import ClusterOptions
from kwokctl.config.resolve import Resolved
from kwokctl.errors import (
    BusyError,
    ComponentError,
    ConfigError,
    TimedOutError,
    UnavailableError,
    UsageError,
)
from kwokctl.expr import yaml
from kwokctl.host.noted_locks import locked
from kwokctl.host.paths import WorkDir
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import changed, cluster_options

NAME = cluster_name("dev")
PROGRAM = "/bin/true"
OPTIONS = cluster_options(
    etcd_binary=PROGRAM,
    kube_apiserver_binary=PROGRAM,
    kube_controller_manager_binary=PROGRAM,
    kube_scheduler_binary=PROGRAM,
)


def home(tmp_path: Path, runtime: FakeRuntime) -> Home:
    return Home(
        workdir=WorkDir(tmp_path / "kwok"), cache=tmp_path / "cache", load_runtime=runtime.load
    )


def request(options: ClusterOptions = OPTIONS) -> CreateRequest:
    resolved = Resolved(options=options, chosen=frozenset(), warnings=())
    return CreateRequest(name=NAME, resolved=resolved, kubeconfig=None)


def broken_at(verb: str, error: BaseException | None = None) -> FakeRuntime:
    return FakeRuntime(fails_at={verb: error or UnavailableError("it broke")})


@pytest.mark.parametrize("verb", ["install", "start"])
async def test_a_failed_creation_leaves_nothing(tmp_path: Path, verb: str) -> None:
    runtime = broken_at(verb)

    with pytest.raises(UnavailableError, match="it broke"):
        await create_cluster(home(tmp_path, runtime), request())

    assert "uninstall" in runtime.asked
    assert list((tmp_path / "kwok" / "clusters").iterdir()) == []


@pytest.mark.parametrize("text", ["{", "clusters: 5", "- 1"])
async def test_a_garbled_kubeconfig_is_found_out_before_anything_is_made(
    tmp_path: Path, text: str
) -> None:
    runtime = FakeRuntime()
    (tmp_path / "config").write_text(text)

    with pytest.raises(ConfigError, match="config"):
        await create_cluster(
            home(tmp_path, runtime), replace(request(), kubeconfig=tmp_path / "config")
        )

    assert runtime.asked == []
    assert not (tmp_path / "kwok" / "clusters").exists()
    assert (tmp_path / "config").read_text() == text


async def test_a_kubeconfig_that_cannot_be_made_is_found_out_before_anything_is_made(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "config"

    with pytest.raises(ConfigError, match="Not a directory"):
        await create_cluster(home(tmp_path, FakeRuntime()), replace(request(), kubeconfig=target))

    assert not (tmp_path / "kwok" / "clusters").exists()


async def test_an_interrupted_creation_leaves_nothing(tmp_path: Path) -> None:
    runtime = broken_at("start", asyncio.CancelledError())

    with pytest.raises(asyncio.CancelledError):
        await create_cluster(home(tmp_path, runtime), request())

    assert list((tmp_path / "kwok" / "clusters").iterdir()) == []


async def test_a_failed_creation_keeps_what_was_there_before(tmp_path: Path) -> None:
    runtime = broken_at("install")
    folder = home(tmp_path, runtime).paths(NAME).root
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "notes.txt").write_text("keep me")

    with pytest.raises(UnavailableError):
        await create_cluster(home(tmp_path, runtime), request())

    assert [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*"))] == [
        "mine",
        "mine/notes.txt",
    ]


async def test_a_failed_creation_is_kept_on_request(tmp_path: Path) -> None:
    runtime = broken_at("start")

    with pytest.raises(UnavailableError):
        await create_cluster(home(tmp_path, runtime), replace(request(), keep_on_failure=True))

    assert "uninstall" not in runtime.asked
    assert home(tmp_path, runtime).paths(NAME).saved.is_file()


async def test_what_a_failed_run_kept_is_continued_and_not_removed_when_that_fails_too(
    tmp_path: Path,
) -> None:
    first = broken_at("start")
    with pytest.raises(UnavailableError):
        await create_cluster(home(tmp_path, first), replace(request(), keep_on_failure=True))
    paths = home(tmp_path, first).paths(NAME)
    ca = (paths.pki / "ca.crt").read_bytes()

    second = broken_at("start")
    with pytest.raises(UnavailableError):
        await create_cluster(home(tmp_path, second), request())

    assert "uninstall" not in second.asked
    assert (paths.pki / "ca.crt").read_bytes() == ca


async def test_a_component_that_exits_is_reported_at_once_with_its_last_log_lines(
    tmp_path: Path,
) -> None:
    class Dying(FakeRuntime):
        async def start(self, cluster, *names) -> None:  # type: ignore[no-untyped-def]
            """Start nothing that stays."""

    runtime = Dying(log=b"one\nfatal: no space left\n")

    with pytest.raises(ComponentError, match="has exited") as caught:
        await create_cluster(home(tmp_path, runtime), request())

    assert "limited" not in str(caught.value)
    assert caught.value.detail == "one\nfatal: no space left"
    kept = home(tmp_path, runtime).workdir.failed_log(NAME, "etcd")
    assert str(kept) in str(caught.value.hint)
    assert kept.read_bytes() == runtime.log

    with pytest.raises(UnavailableError):
        await create_cluster(home(tmp_path, broken_at("start")), request())
    assert not kept.parent.exists()


@pytest.mark.parametrize(
    "options",
    [
        changed(OPTIONS, disable=("etcd",)),
        changed(OPTIONS, extra_args=("nonsense",)),
        changed(OPTIONS, artifact_source="thin-air"),
        changed(OPTIONS, kube_version="latest"),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_created(
    tmp_path: Path, options: ClusterOptions
) -> None:
    with pytest.raises(UsageError):
        await create_cluster(home(tmp_path, FakeRuntime()), request(options))

    assert not (tmp_path / "kwok" / "clusters").exists()


class Notes(Silent):
    """Keeps the notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


async def test_create_notes_and_saves_its_choices_so_that_a_start_has_the_same_flags(
    tmp_path: Path,
) -> None:
    notes, runtime = Notes(), broken_at("start")
    mine = replace(home(tmp_path, runtime), progress=notes)
    options = changed(OPTIONS, etcd_fsync="off")

    with pytest.raises(UnavailableError):
        await create_cluster(mine, replace(request(options), keep_on_failure=True))

    assert "power cut" in notes.lines[0]
    saved = load(mine.paths(NAME), NAME)
    assert saved.options.heartbeat.kind in {"real", "stretched"}
    written = yaml.load_all(mine.paths(NAME).saved.read_text())[0]
    args = {c["name"]: tuple(c["args"]) for c in written["components"]}
    plan = saved.plan(runtime, mine.paths(NAME))
    assert args == {name: component.args for name, component in plan.components.items()}
    assert "--unsafe-no-fsync=true" in args["etcd"]


async def test_two_commands_cannot_change_one_cluster_at_once(tmp_path: Path) -> None:
    mine = home(tmp_path, FakeRuntime())

    with (
        locked(mine.workdir.cluster_lock(NAME), what="it"),
        pytest.raises(BusyError, match="'dev' is in use by process"),
    ):
        await create_cluster(mine, request())


@pytest.mark.parametrize("text", ["", "Dev", "a/b", "-a", "a-", "a" * 64, "..", "a b"])
def test_names_that_could_harm_a_path_or_a_context_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a cluster"):
        cluster_name(text)


@pytest.mark.parametrize(
    ("text", "proposal"),
    [
        ("sim_1", "use 'sim-1', for example: "),
        ("My_Cluster", "use 'my-cluster', for example: "),
        ("_" + "A" * 70 + "!", f"use '{'a' * 63}', for example: "),
        ("..", ""),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_the_reason_and_one_that_can(
    text: str, proposal: str
) -> None:
    with pytest.raises(UsageError) as refused:
        cluster_name(text)
    assert f"{proposal}a name becomes part of the names of hosts" in (refused.value.hint or "")
    if proposal:
        cluster_name(proposal.split("'")[1])


async def test_a_wait_that_fails_names_the_component_and_ends_with_its_log(tmp_path: Path) -> None:
    runtime = FakeRuntime(log=b"still thinking\n")

    with pytest.raises(TimedOutError, match="'etcd'") as caught:
        await create_cluster(home(tmp_path, runtime), replace(request(), timeout=0.5, wait=0.01))

    assert caught.value.detail == "still thinking"
    assert list((tmp_path / "kwok" / "clusters").iterdir()) == []
