"""What `--dry-run` prints, run by a shell, makes what the command itself makes."""

import subprocess

import pytest

from tests.support.installed import Installed
from tests.support.original_snapshot import unpacked

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]


def ran(cluster: Installed, *words: str) -> str:
    """Have a shell run what a dry run prints, from its standard input; return the script."""
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
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return script


@pytest.fixture(scope="module")
def main(installed: Installed) -> Installed:
    return installed.called("main")


def test_a_dry_run_changes_nothing(main: Installed) -> None:
    before = main.files()
    main.ok("create", "cluster", "--runtime", "binary", "--wait", "--dry-run")

    assert main.files() == before
    assert not (main.workdir / "locks").exists()


def test_the_script_creates_a_cluster_that_kwokctl_works_on(main: Installed) -> None:
    script = ran(main, "create", "cluster", "--runtime", "binary", "--nodes", "2", "--wait")

    assert "PRIVATE KEY" not in script
    assert main.statuses() == {"Ready"}
    assert len(main.objects("nodes")) == 2
    assert "kwok-main" in main.kubeconfig.read_text()
    assert "runs already" in main.run("start", "cluster").err


def test_a_dry_run_of_scale_counts_what_there_is(main: Installed) -> None:
    said = main.ok("scale", "node", "--replicas", "5", "--dry-run")

    assert "It has 2: 3 are created, 0 deleted." in said
    assert len(main.objects("nodes")) == 2


def test_kwokctl_starts_what_a_script_has_stopped(main: Installed) -> None:
    ran(main, "stop", "cluster")
    assert main.statuses() == {"Stopped"}

    main.ok("start", "cluster", "--wait")


def test_scripts_save_a_snapshot_and_restore_it_by_stopping_and_starting_components(
    main: Installed,
) -> None:
    file = str(main.folder / "main.db")
    ran(main, "snapshot", "save", "--path", file)
    main.ok("scale", "node", "--replicas", "0")
    ran(main, "snapshot", "restore", "--path", file)

    assert len(main.objects("nodes")) == 2
    assert not (main.workdir / "clusters" / "main" / "etcd-before-restore").exists()


def test_a_snapshot_of_the_original_is_restored(main: Installed) -> None:
    """Here, since this cluster exists; by the command itself, which does what the script does."""
    main.ok("snapshot", "restore", "--path", str(unpacked(main.folder)))

    assert len(main.objects("nodes")) == 20
    pods = main.objects("pods", "-l", "app=web")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 10
    assert main.kubectl("get", "secret", "s", "-o", "jsonpath={.data.a}") == "Yg=="


def test_the_script_deletes_the_cluster_with_its_context(main: Installed) -> None:
    ran(main, "delete", "cluster")

    assert not main.processes()
    assert "main" not in main.ok("get", "clusters")
    assert "kwok-main" not in main.kubeconfig.read_text()
