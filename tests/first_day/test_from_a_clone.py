"""The first commands of the README, from nothing but a clone.

Its programs are those of the machine: on a new one `make demo` is what downloads or builds them, as for any new user,
and the tests that follow use them (tests/support/lanes.py).
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.first_users import FirstUser, assert_nothing_is_left, first_user
from tests.support.installed import Finished, condition, processes_with
from tests.support.tour import commands, script

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.network,
    # A processor that is busy with other things needs an hour for a build.
    pytest.mark.timeout(5400, func_only=False),
]

ROOT = Path(__file__).parents[2]
NODES, PODS = 20, 40


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clone what was committed last."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no clone: it came without '.git', or there is no git")
    folder = tmp_path_factory.mktemp("clone") / "kwokctl"
    # The checkout may be another user's, as in containers of CI.
    subprocess.run(
        ["git", "-c", "safe.directory=*", "clone", "--quiet", ROOT, folder],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def user(package_index: None, clone: Path) -> Iterator[FirstUser]:
    with first_user(clone / ".venv" / "bin") as user:
        yield user


@pytest.fixture(scope="module")
def demo(user: FirstUser, clone: Path) -> Finished:
    """Run the first command, with numbers that cost little."""
    numbers = (f"NODES={NODES}", f"PODS={PODS}")
    return user.run("make", "demo", *numbers, timeout=5300, folder=clone)


def test_make_demo_needs_nothing_but_the_clone(demo: Finished, user: FirstUser) -> None:
    assert demo.code == 0, demo.out[-2000:] + demo.err[-4000:]
    assert f"{NODES} nodes are Ready and {PODS} pods are Running" in demo.out
    assert "Traceback" not in demo.err

    nodes, pods = (
        json.loads(user.ok("kwokctl", "kubectl", "get", kind, "-o", "json"))["items"]
        for kind in ("nodes", "pods")
    )
    assert [condition(node, "Ready") for node in nodes] == ["True"] * NODES
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * PODS


def test_without_numbers_it_makes_a_thousand_nodes(user: FirstUser, clone: Path) -> None:
    said = user.ok("make", "demo", "--dry-run", folder=clone)

    assert "--nodes 1000 --pods 2000 --wait" in said


def test_its_last_words_delete_the_cluster(demo: Finished, user: FirstUser, clone: Path) -> None:
    last = demo.out.splitlines()[-1].split()

    assert last == [".venv/bin/kwokctl", "delete", "cluster"]
    user.ok(*last, folder=clone)
    assert processes_with(str(user.home)) == {}


def test_the_tour_follows(demo: Finished, user: FirstUser, clone: Path) -> None:
    assert len(list(commands(clone / "README.md"))) >= 10
    before = {*clone.iterdir()}

    done = user.run("bash", "-c", script(clone / "README.md"), folder=clone, timeout=900)

    assert done.code == 0, done.out[-2000:] + done.err[-4000:]
    assert "failed:" not in done.err
    assert_nothing_is_left(user)
    assert {*clone.iterdir()} == before
