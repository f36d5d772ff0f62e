"""Which commands may work on one cluster at the same time."""

from pathlib import Path

import pytest

from kwokctl.clusters.state.locks import alone, marking, starting, using
from kwokctl.errors import BusyError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName

NAME = ClusterName("main")
REFUSED = pytest.raises(BusyError, match="the cluster 'main' is in use by process")


@pytest.fixture
def workdir(tmp_path: Path) -> WorkDir:
    return WorkDir(tmp_path)


def test_commands_use_a_cluster_side_by_side(workdir: WorkDir) -> None:
    with using(workdir, NAME), using(workdir, NAME):
        pass


def test_a_dead_component_is_started_beside_the_command_that_waits_for_it(workdir: WorkDir) -> None:
    with using(workdir, NAME), starting(workdir, NAME):
        pass


def test_a_cluster_that_is_being_started_is_not_used_or_started_again(workdir: WorkDir) -> None:
    with starting(workdir, NAME):
        for other in (starting, using):
            with REFUSED, other(workdir, NAME):
                pass


def test_a_cluster_that_is_used_or_started_is_not_changed(workdir: WorkDir) -> None:
    for first in (using, starting, alone):
        with first(workdir, NAME), REFUSED, alone(workdir, NAME):
            pass


def test_a_cluster_that_is_being_changed_is_not_used_or_started(workdir: WorkDir) -> None:
    with alone(workdir, NAME):
        for other in (using, starting):
            with REFUSED, other(workdir, NAME):
                pass


def test_marks_are_made_by_one_command_at_a_time(workdir: WorkDir) -> None:
    refused = pytest.raises(BusyError, match="the list of marks of 'main' is in use by process")
    with marking(workdir, NAME), refused, marking(workdir, NAME):
        pass
