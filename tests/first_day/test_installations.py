"""The main job by every way in which kwokctl is installed, and the tutorial by one; the tour is that of a clone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.replacing import replace
from tests.support.distribution import environment_with, unpack_sdist
from tests.support.first_users import FirstUser, assert_nothing_is_left, first_user
from tests.support.tour import commands, script

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.network,
    pytest.mark.timeout(1500),
]

ROOT = Path(__file__).parents[2]
SDIST, PIP, PIPX = "sdist", "wheel by pip", "wheel by pipx"


@pytest.fixture(scope="module", params=[SDIST, PIP, PIPX])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(way: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the user of one way works."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def user(
    programs: None, request: pytest.FixtureRequest, way: str, folder: Path
) -> Iterator[FirstUser]:
    """Install it, or have it unpacked where the user works."""
    if way != SDIST:
        with first_user(request.getfixturevalue({PIP: "by_pip", PIPX: "by_pipx"}[way])) as user:
            yield user
        return
    unpack_sdist(folder, request.getfixturevalue("wheel"))
    # A clone makes its environment, with what the index has (test_from_a_clone.py); this one is brought up to date.
    settings = request.getfixturevalue("requirements")
    with first_user(environment_with(folder / ".venv", "pip", settings)) as user:
        yield replace(user, settings={**user.settings, **settings})


def test_the_main_job_is_one_command(user: FirstUser, way: str, folder: Path) -> None:
    if way == SDIST:
        said = user.ok("make", "demo", "NODES=5", "PODS=10", folder=folder, timeout=1200)
        assert "5 nodes are Ready and 10 pods are Running" in said
    else:
        user.ok("kwokctl", "create", "cluster", "--nodes", "5", "--pods", "10", "--wait")

    running = ("--field-selector=status.phase=Running", "-o", "name")
    assert user.ok("kwokctl", "kubectl", "get", "pods", *running).count("pod/") == 10
    user.ok("kwokctl", "delete", "cluster")


# What the tutorial says is the same however it was installed; above all of them create a cluster.
@pytest.mark.parametrize("way", [PIP], indirect=True)
def test_every_command_of_the_tutorial_works(user: FirstUser, folder: Path) -> None:
    tutorial = ROOT / "docs" / "tutorial.md"
    user.ok("kwokctl", "delete", "cluster", "--all")
    before = {*folder.iterdir()}
    assert len(list(commands(tutorial))) >= 10

    done = user.run("bash", "-c", script(tutorial), folder=folder, timeout=600)

    assert done.code == 0, done.out[-2000:] + done.err[-4000:]
    assert "failed:" not in done.err
    assert_nothing_is_left(user)
    assert {*folder.iterdir()} == before
