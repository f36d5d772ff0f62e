"""A machine of a tenth of the speed, with a store that is full."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.errors import ArtifactError
from tests.support import store
from tests.support.control_groups import Group, slowed
from tests.support.installed import Installed, command

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
]


@pytest.fixture
def machine() -> Iterator[Group]:
    with slowed(0.1) as machine:
        yield machine


@pytest.fixture
async def user(machine: Group) -> AsyncIterator[Installed]:
    """Give somebody clusters of their own, and the store of who runs the tests."""
    try:
        await store.program("kube-apiserver", DEFAULT_KUBE_VERSION)
    except ArtifactError as e:
        pytest.skip(str(e))
    # A short path, as a user's is: unix sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-day-"))
    user = Installed.within(folder)
    yield user
    user.run("delete", "cluster", "--all", "--force")
    for pid in user.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_demo_ends_well(user: Installed, machine: Group) -> None:
    demo = ("create", "cluster", "--nodes", "100", "--pods", "200", "--wait")

    done = subprocess.run(
        machine.entered(*command(), *demo),
        env=user.environment, capture_output=True, text=True, timeout=1000, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "cluster 'kwok' is ready with 100 nodes and 200 pods" in done.stderr
    assert user.statuses() == {"Ready"}
    assert machine.times_held_back() > 100
