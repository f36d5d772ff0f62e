"""What would be done to a cluster is known without doing it."""

from pathlib import Path

import pytest

from kwokctl.clusters.create import CreateRequest
from kwokctl.clusters.dry_run.lifecycle_steps import (
    create_steps,
    delete_all_steps,
    delete_steps,
    start_steps,
    stop_steps,
)
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.components.catalog import catalog
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConflictError, NotFoundError
from kwokctl.host.paths import WorkDir
from kwokctl.registry import load
from kwokctl.replacing import replace
from kwokctl.script.steps import Action, Command, Comment, FileText
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
from tests.support.options import changed, cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
OPTIONS = cluster_options(
    etcd_binary="/bin/true",
    kube_apiserver_binary="/bin/true",
    kube_controller_manager_binary="/bin/true",
    kube_scheduler_binary="/bin/true",
)


def remarks(steps: tuple[Action, ...]) -> str:
    assert all(isinstance(step, Comment) for step in steps)
    return "\n".join(step.text for step in steps if isinstance(step, Comment))


def request(home: Home, *, kubeconfig: bool = False) -> CreateRequest:
    return CreateRequest(
        name=NAME,
        resolved=Resolved(options=OPTIONS, chosen=frozenset(), warnings=()),
        kubeconfig=home.workdir.root / "kubeconfig" if kubeconfig else None,
    )


async def test_a_runtime_without_scripts_is_outlined_with_the_number_of_components(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, NAME, OPTIONS, FakeRuntime())
    said = remarks(await stop_steps(home, NAME))

    assert "cannot be written as a script" in said
    assert f"stop cluster 'dev' of {len(catalog())} components" in said


async def test_the_outline_names_the_commands_of_what_makes_clusters(tmp_path: Path) -> None:
    home = home_with(tmp_path, NAME, OPTIONS, BringingRuntime())

    assert "kind delete cluster --name kwok-dev" in remarks(
        await delete_steps(home, NAME, kubeconfig=None, force=False)
    )


async def test_what_is_not_there_is_an_error_or_nothing_as_without_the_flag(tmp_path: Path) -> None:
    home = Home(workdir=WorkDir(tmp_path / "kwok"), cache=tmp_path / "cache")

    with pytest.raises(NotFoundError):
        await stop_steps(home, NAME)
    with pytest.raises(NotFoundError):
        await start_steps(home, NAME)
    said = remarks(await delete_steps(home, NAME, kubeconfig=None, force=False))
    assert said == "There is no cluster 'dev'."
    assert remarks(await delete_all_steps(home, kubeconfig=None, force=False))


async def test_a_cluster_of_the_original_is_refused_without_force(tmp_path: Path) -> None:
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path / "cache")
    saved = home.paths(NAME).saved
    saved.parent.mkdir(parents=True)
    saved.write_text("kind: KwokctlConfiguration\n")

    with pytest.raises(ConflictError, match="original"):
        await delete_steps(home, NAME, kubeconfig=None, force=False)


async def test_a_new_cluster_has_its_files_before_its_components(tmp_path: Path) -> None:
    home = Home(workdir=WorkDir(tmp_path / "kwok"), cache=tmp_path / "cache", load_runtime=load)
    steps = await create_steps(home, request(home, kubeconfig=True))
    files = [step.path.name for step in steps if isinstance(step, FileText)]

    # Where the path of the cluster is too long for sockets, a note says first where they are.
    assert next(name for name in files if name != "sockets") == "kwok.yaml"
    assert "etcd.json" in files
    assert not (tmp_path / "kwok").exists()


@pytest.mark.parametrize(
    ("wait", "ends"),
    [
        (None, []),
        (90.0, ["--timeout=90s node/kwokctl-probe", "delete node kwokctl-probe"]),
        (0.0, ["--timeout=-1s node/kwokctl-probe", "delete node kwokctl-probe"]),
    ],
)
async def test_a_controller_of_another_make_is_probed_as_by_the_command(
    tmp_path: Path, wait: float | None, ends: list[str]
) -> None:
    home = Home(workdir=WorkDir(tmp_path / "kwok"), cache=tmp_path / "cache", load_runtime=load)
    options = changed(OPTIONS, kwok_controller_binary="/bin/true", runtime="binary")
    resolved = Resolved(options=options, chosen=frozenset(), warnings=())
    steps = await create_steps(home, replace(request(home), resolved=resolved, wait=wait))
    words = [" ".join(step.words) for step in steps if isinstance(step, Command)]
    probing = [each for each in words if "kwokctl-probe" in each]

    assert [each.endswith(end) for each, end in zip(probing, ends, strict=True)] == [True] * len(
        ends
    )


async def test_data_that_a_killed_restore_has_left_are_put_in_order(tmp_path: Path) -> None:
    options = cluster_options(runtime="binary", jaeger_binary="/bin/true")
    home_with(tmp_path, NAME, options, FakeRuntime())
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path / "cache", load_runtime=load)
    paths = home.paths(NAME)
    paths.etcd_before_restore.mkdir()
    moves = [
        step.words
        for step in await start_steps(home, NAME)
        if isinstance(step, Command) and step.words[0] == "mv"
    ]

    assert moves == [("mv", str(paths.etcd_before_restore), str(paths.etcd_data))]
