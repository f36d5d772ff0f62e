"""The cluster of a run is made, forked or found, and taken away if the run has made it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from kwokctl.errors import NotFoundError
from kwokctl.pytest_plugin.session import RunPlan, session_cluster


class FakeClusters:
    """Clusters that are only names; stands in for the class."""

    there: set[str]
    done: list[str]

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def create(cls, name: str, **options: Any) -> Self:
        cls.done.append(f"create {name} {options}")
        cls.there.add(name)
        return cls(name)

    @classmethod
    def open(cls, name: str) -> Self:
        if name not in cls.there:
            raise NotFoundError(name)
        return cls(name)

    def fork(self, name: str) -> "FakeClusters":
        self.done.append(f"fork {self.name} {name}")
        self.there.add(name)
        return FakeClusters(name)

    def delete(self) -> None:
        self.done.append(f"delete {self.name}")
        self.there.discard(self.name)

    def close(self) -> None:
        self.done.append(f"close {self.name}")


@pytest.fixture(autouse=True)
def _nothing_there() -> None:
    FakeClusters.there, FakeClusters.done = {"mine"}, []


def _run(shared: Path, plans: Sequence[RunPlan]) -> list[str]:
    """Do what workers do, one after the other; return what was done with clusters."""

    def prepare(cluster: Any) -> None:
        FakeClusters.done.append(f"prepare {cluster.name}")

    clusters: Any = FakeClusters
    for plan in plans:
        with session_cluster(plan, shared, prepare, clusters) as cluster:
            FakeClusters.done.append(f"use {cluster.name}")
    return FakeClusters.done


def test_without_workers_a_cluster_is_made(tmp_path: Path) -> None:
    plan = RunPlan(run="1234567890", options={"nodes": 3})

    assert _run(tmp_path, [plan]) == [
        "create pytest-12345678 {'nodes': 3}",
        "prepare pytest-12345678",
        "use pytest-12345678",
        "delete pytest-12345678",
    ]


def test_each_worker_has_a_fork_of_a_cluster_that_the_first_makes(tmp_path: Path) -> None:
    assert _run(tmp_path, [RunPlan(run="12", worker=f"gw{n}") for n in range(2)]) == [
        "create pytest-12 {}",
        "prepare pytest-12",
        "fork pytest-12 pytest-12-gw0",
        "use pytest-12-gw0",
        "delete pytest-12-gw0",
        "fork pytest-12 pytest-12-gw1",
        "use pytest-12-gw1",
        "delete pytest-12-gw1",
    ]


def test_a_worker_has_a_fork_on_any_runtime(tmp_path: Path) -> None:
    plan = RunPlan(run="12", worker="gw0", options={"runtime": "docker"})

    assert _run(tmp_path, [plan])[:3] == [
        "create pytest-12 {'runtime': 'docker'}",
        "prepare pytest-12",
        "fork pytest-12 pytest-12-gw0",
    ]


@pytest.mark.parametrize(
    ("plan", "done"),
    [
        (RunPlan(run="12", used="mine"), ["use mine", "close mine"]),
        (
            RunPlan(run="12", used="mine", worker="gw0"),
            ["fork mine pytest-12-gw0", "use pytest-12-gw0", "delete pytest-12-gw0"],
        ),
        (
            RunPlan(run="12", source="mine"),
            ["fork mine pytest-12", "use pytest-12", "delete pytest-12"],
        ),
        (
            RunPlan(run="12", source="mine", keep=True),
            ["fork mine pytest-12", "use pytest-12", "close pytest-12"],
        ),
    ],
)
def test_a_cluster_that_exists_stays(tmp_path: Path, plan: RunPlan, done: list[str]) -> None:
    assert _run(tmp_path, [plan]) == done


def test_a_cluster_that_cannot_be_prepared_is_deleted(tmp_path: Path) -> None:
    def fail(cluster: Any) -> None:
        raise NotFoundError("no such file")

    clusters: Any = FakeClusters
    with (
        pytest.raises(NotFoundError),
        session_cluster(RunPlan(run="12"), tmp_path, fail, clusters),
    ):
        pass
    assert FakeClusters.done[-1] == "delete pytest-12"
