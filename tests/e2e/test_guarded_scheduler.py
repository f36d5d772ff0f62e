"""`examples/measure/guard`: every step of the workflow that guards a scheduler, as a runner of GitHub runs it."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from tests.support import store
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.story]

ROOT = Path(__file__).parents[2]
WORKFLOW: dict[str, Any] = yaml.safe_load(
    (ROOT / "examples/measure/guard/guard-the-scheduler.yaml").read_text("utf-8")
)
STEPS = {step["name"]: step for step in WORKFLOW["jobs"]["compare"]["steps"] if "run" in step}
SMALL = {"NODES": "3", "PODS": "4", "RUNS": "1"}
"""A test takes less than a reader."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job in a checkout of a scheduler's repository."""

    at: Installed
    folder: Path
    base: str
    """The commit of the base."""

    def run(self, name: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a step to its end."""
        own = {
            key: text.replace("${{ github.event.pull_request.base.sha }}", self.base)
            for key, text in STEPS[name].get("env", {}).items()
        }
        environ = {**self.at.environment, **WORKFLOW["env"], **SMALL, **own, **settings}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-c", STEPS[name]["run"]],
            cwd=self.folder,
            env={**environ, "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def ok(self, name: str, **settings: str) -> str:
        """Run a step that must succeed; return what it printed."""
        done = self.run(name, **settings)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def job(installed: Installed) -> Iterator[Job]:
    """A repository whose build makes the scheduler of Kubernetes, and a change in it."""
    folder = installed.folder / "checkout"
    folder.mkdir()
    scheduler = asyncio.run(store.program("kube-scheduler", DEFAULT_KUBE_VERSION))
    (folder / "Makefile").write_text(
        f"scheduler:\n\tmkdir -p bin && cp {scheduler} bin/scheduler\n"
    )

    def git(*words: str) -> str:
        named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        command = ["git", *named, *words]
        return subprocess.run(
            command, cwd=folder, env=os.environ, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "--quiet")
    git("add", "Makefile")
    git("commit", "--quiet", "--message", "base")
    base = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--message", "change", "--allow-empty")
    yield Job(installed, folder, base)
    installed.run("delete", "cluster", "--all")


def test_both_schedulers_are_built(job: Job) -> None:
    job.ok("build the scheduler of the base and that of the change")

    assert (job.folder / "scheduler-base").exists()
    assert (job.folder / "scheduler-change").exists()


def test_a_cluster_runs_each_of_them(job: Job) -> None:
    job.ok("create a cluster for each")

    for side in ("base", "change"):
        programs = job.at.called(side).processes().values()
        assert any(f"scheduler-{side}" in each for each in programs)


def test_both_are_measured_and_too_few_runs_do_not_pass(job: Job) -> None:
    job.ok("measure both in turn")
    done = job.run("compare")

    assert done.returncode == 1, done.stderr
    assert "too few runs: at least 4 of each are needed" in done.stdout
    for side in ("base", "change"):
        assert not job.at.called(side).objects("pods")


def test_enough_runs_pass_unless_the_change_is_worse(job: Job) -> None:
    for side in ("base", "change"):
        [record] = (job.folder / "runs" / side).iterdir()
        for number in range(2, 5):  # copies: how sure it is, is not what is tested here
            shutil.copy(record, record.with_name(f"{number}.jsonl.gz"))

    out = job.ok("compare", MAX_WORSE="1000%")
    job.ok("show it in the pull request")

    assert out.startswith("PASSED: B (runs/change) against A (runs/base)")
    assert (job.folder / "summary.md").read_text().startswith("# PASSED: B (runs/change)")
    assert 'failures="0"' in (job.folder / "junit.xml").read_text()


def test_the_clusters_are_deleted(job: Job) -> None:
    job.ok("delete the clusters")

    until("no process is left", lambda: not job.at.processes())


def test_every_step_is_run() -> None:
    text = Path(__file__).read_text("utf-8")

    assert [name for name in STEPS if f'"{name}"' not in text] == []
