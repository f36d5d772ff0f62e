"""What `--dry-run` prints, run by a shell, makes what the command itself makes."""

import subprocess
from collections.abc import Iterator, Sequence

import pytest

from tests.support.installed import Installed
from tests.support.original_snapshot import unpacked
from tests.support.places import Place, opened

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

FEW = ("--components", "etcd,kube-apiserver,kube-controller-manager,kwok-controller")
"""For a cluster in containers: the script is the same for each of them."""


def ran(cluster: Installed, *words: str) -> str:
    """Have a shell run what a dry run prints, from its standard input; return the script."""
    script, done = tried(cluster, *words)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return script


def tried(cluster: Installed, *words: str) -> tuple[str, subprocess.CompletedProcess[str]]:
    """Return what a dry run prints, and what came of a shell that ran it."""
    script = cluster.ok(*words, "--dry-run")
    done = subprocess.run(
        ["sh"],
        env=cluster.environment,
        input=script,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return script, done


@pytest.fixture(scope="module", params=["binary", pytest.param("docker", marks=pytest.mark.docker)])
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime that writes scripts, with an engine of the tests' own if it needs one.

    Scripts for Podman are those for Docker with another word, which the contract of scripts tests.
    """
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def main(place: Place, installed: Installed) -> Iterator[Installed]:
    main = installed.called(f"main-{place.name}")
    yield main
    if main.name in main.ok("get", "clusters").split():
        # A step has failed; the engine is another module's next.
        main.run("delete", "cluster", "--force")


@pytest.fixture(scope="module")
def words(place: Place) -> Sequence[str]:
    """Return what creates a cluster here, without what no step needs."""
    few = () if place.command is None else ("--artifact-source", "build", *FEW)
    return ("create", "cluster", "--runtime", place.runtime, *few, "--wait")


def test_a_dry_run_changes_nothing(main: Installed, words: Sequence[str]) -> None:
    before = main.files()
    main.ok(*words, "--dry-run")

    assert main.files() == before
    assert not list((main.workdir / "locks").glob(f"*{main.name}*"))


def test_the_script_creates_a_cluster_that_kwokctl_works_on(
    place: Place, main: Installed, words: Sequence[str]
) -> None:
    # Nothing holds the ports that a script names: a cluster of another test may take one before it is run.
    script, done = tried(main, *words, "--nodes", "2")
    while "address already in use" in done.stderr:
        main.ok("delete", "cluster", "--force")
        script, done = tried(main, *words, "--nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr

    assert "PRIVATE KEY" not in script
    assert main.statuses() == {"Ready"}
    assert len(main.objects("nodes")) == 2
    assert f"kwok-{main.name}" in main.kubeconfig.read_text()
    assert "runs already" in main.run("start", "cluster").err
    assert len(place.found("--filter", f"name=kwok-{main.name}-")) == (3 if place.command else 0)


def test_a_dry_run_of_scale_counts_what_there_is(main: Installed) -> None:
    said = main.ok("scale", "node", "--replicas", "5", "--dry-run")

    assert "It has 2: 3 are created, 0 deleted." in said
    assert len(main.objects("nodes")) == 2


def test_the_script_exports_the_files_that_the_command_exports(main: Installed) -> None:
    ways = [main.folder / f"{main.name}-by-{way}" for way in ("script", "command")]
    ran(main, "export", "logs", str(ways[0]))
    main.ok("export", "logs", str(ways[1]))

    found = [sorted(str(f.relative_to(way)) for f in way.rglob("*")) for way in ways]
    assert found[0] == found[1]
    assert f"{main.name}/components/kube-apiserver.log" in found[0]


def test_scripts_stop_the_cluster_and_start_it(main: Installed) -> None:
    ran(main, "stop", "cluster")
    assert main.statuses() == {"Stopped"}

    ran(main, "start", "cluster", "--wait")
    assert main.statuses() == {"Ready"}
    assert len(main.objects("nodes")) == 2


def test_kwokctl_starts_what_a_script_has_stopped(main: Installed) -> None:
    ran(main, "stop", "cluster")

    main.ok("start", "cluster", "--wait")


def test_scripts_save_a_snapshot_and_restore_it_by_stopping_and_starting_components(
    main: Installed,
) -> None:
    file = str(main.folder / f"{main.name}.db")
    ran(main, "snapshot", "save", "--path", file)
    main.ok("scale", "node", "--replicas", "0")
    ran(main, "snapshot", "restore", "--path", file)

    assert len(main.objects("nodes")) == 2
    assert not (main.workdir / "clusters" / main.name / "etcd-before-restore").exists()


@pytest.mark.parametrize("place", ["binary"], indirect=True, scope="module")
def test_a_snapshot_of_the_original_is_restored(main: Installed) -> None:
    """Here, since this cluster exists; by the command itself, which does what the script does."""
    main.ok("snapshot", "restore", "--path", str(unpacked(main.folder)))

    assert len(main.objects("nodes")) == 20
    pods = main.objects("pods", "-l", "app=web")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 10
    assert main.kubectl("get", "secret", "s", "-o", "jsonpath={.data.a}") == "Yg=="


def test_the_script_deletes_the_cluster_with_its_context(place: Place, main: Installed) -> None:
    ran(main, "delete", "cluster")

    assert not main.processes()
    assert main.name not in main.ok("get", "clusters")
    assert f"kwok-{main.name}" not in main.kubeconfig.read_text()
    assert place.remains(main) == []
    assert place.found("--filter", f"name=kwok-{main.name}-") == []
