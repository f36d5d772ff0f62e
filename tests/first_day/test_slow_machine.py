"""A machine of a tenth of the speed, with a store that is full."""

import subprocess

import pytest

from tests.support.control_groups import slowed
from tests.support.installed import command
from tests.support.newcomer import newcomer

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
]


def test_the_demo_ends_well(programs: None) -> None:
    demo = ("create", "cluster", "--nodes", "100", "--pods", "200", "--wait")
    # The user's clusters are taken away before the group is.
    with slowed(0.1) as machine, newcomer() as user:
        user.fill_store()

        done = subprocess.run(
            machine.entered(*command(), *demo),
            env=user.environment, capture_output=True, text=True, timeout=1000, check=False,
        )  # fmt: skip

        assert done.returncode == 0, done.stderr
        assert "cluster 'kwok' is ready with 100 nodes and 200 pods" in done.stderr
        assert user.statuses() == {"Ready"}
        assert machine.times_held_back() > 100
