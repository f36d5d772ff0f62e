"""Whose programs are in the store: what a cluster of any work folder needs must not be pruned."""

import os
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.artifacts.versions import DEFAULT_KIND_VERSION, DEFAULT_KUBE_VERSION
from kwokctl.clusters.programs.pruning import RECENTLY, prune, store_users, survey
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.errors import ConfigError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KUBE_APISERVER, KWOK_CONTROLLER, Artifact, ClusterName
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
from tests.support.options import cluster_options

LONG_AGO = 1.0
NOW = LONG_AGO + RECENTLY
VERSIONS = {
    "etcd": "3.6.16",
    "etcdctl": "3.6.16",
    "kube-apiserver": DEFAULT_KUBE_VERSION,
    "kubectl": DEFAULT_KUBE_VERSION,
    "kind": DEFAULT_KIND_VERSION,
}


def home_of(tmp_path: Path, name: str, runtime: FakeRuntime) -> Home:
    return Home(
        workdir=WorkDir(tmp_path / name), cache=tmp_path / "cache", load_runtime=runtime.load
    )


def stored(home: Home, name: str, version: str) -> Entry:
    """Put a program into the store that was last used long ago."""
    store = store_of(home.cache, here())
    store.root.mkdir(parents=True, exist_ok=True)
    program = store.root / "coming"
    program.write_bytes(b"#!/bin/sh\n")
    entry = store.publish(program, name=name, version=version, source="build", origin="a test")
    os.utime(entry.path.parent / "record.json", (LONG_AGO, LONG_AGO))
    return entry


def cluster(home: Home, runtime: FakeRuntime, entries: dict[str, Entry]) -> None:
    """Have a cluster as `create` leaves it."""
    names = (ETCD, KUBE_APISERVER, KWOK_CONTROLLER)
    commands = {name: (str(entry.path),) for name, entry in entries.items()}
    saved = Saved(
        name=ClusterName("main"),
        options=cluster_options(runtime=runtime.name, etcd_port=2379, kube_apiserver_port=6443),
        names=names,
        artifacts={
            name: Artifact(
                name=name, version=VERSIONS.get(name, "v1"), command=commands.get(name, ())
            )
            for name in names
        },
        stages=(),
    )
    write_files(home, runtime, saved)


def reasons(home: Home, proc: Path) -> dict[str, str]:
    return {path.name: why for path, why in store_users(home, wall=lambda: NOW, proc=proc).items()}


def test_programs_of_another_work_folders_cluster_are_kept(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    theirs, mine = home_of(tmp_path, "theirs", runtime), home_of(tmp_path, "mine", runtime)
    entries = {name: stored(mine, name, version) for name, version in VERSIONS.items()}
    old = stored(mine, "kubectl", "v1.35.4")
    cluster(theirs, runtime, entries)

    found = reasons(mine, tmp_path)

    assert set(found) == {"etcd", "etcdctl", "kube-apiserver", "kubectl"}
    assert set(found.values()) == {f"used by clusters in '{tmp_path / 'theirs'}'"}
    assert old.path not in store_users(mine, wall=lambda: NOW, proc=tmp_path)


def test_every_work_folder_that_uses_a_program_is_named(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    theirs, mine = home_of(tmp_path, "theirs", runtime), home_of(tmp_path, "mine", runtime)
    entries = {name: stored(mine, name, version) for name, version in VERSIONS.items()}
    cluster(theirs, runtime, entries)
    cluster(mine, runtime, entries)

    found = reasons(mine, tmp_path)

    folders = f"'{tmp_path / 'mine'}', '{tmp_path / 'theirs'}'"
    assert set(found.values()) == {f"used by clusters in {folders}"}


def test_the_program_that_makes_nodes_is_kept_for_a_cluster_that_has_them(tmp_path: Path) -> None:
    runtime = BringingRuntime()
    home = home_of(tmp_path, "mine", runtime)
    for name in ("kind", "etcd"):
        stored(home, name, VERSIONS[name])
    cluster(home, runtime, {})

    assert "kind" in reasons(home, tmp_path)


def test_a_program_that_runs_is_kept_whatever_cluster_it_is_of(tmp_path: Path) -> None:
    home = home_of(tmp_path, "mine", FakeRuntime())
    etcd = stored(home, "etcd", "3.6.16")
    (tmp_path / "proc" / "7").mkdir(parents=True)
    (tmp_path / "proc" / "7" / "exe").symlink_to(etcd.path)

    assert reasons(home, tmp_path / "proc") == {"etcd": "running now"}


def test_a_recently_requested_program_is_kept(tmp_path: Path) -> None:
    home = home_of(tmp_path, "mine", FakeRuntime())
    etcd = stored(home, "etcd", "3.6.16")
    assert reasons(home, tmp_path) == {}

    store_of(home.cache, here()).find("etcd", "3.6.16")

    assert etcd.last_use > NOW
    assert reasons(home, tmp_path) == {"etcd": "used within the last 24 hours"}


def test_nothing_is_removed_while_a_clusters_needs_are_unknown(tmp_path: Path) -> None:
    home = home_of(tmp_path, "mine", FakeRuntime())
    stored(home, "etcd", "3.6.16")
    saved = home.paths(ClusterName("main")).saved
    saved.parent.mkdir(parents=True)
    saved.write_text("garbled")

    with pytest.raises(ConfigError, match="is not a saved cluster"):
        survey(home, everything=False)


def test_what_has_come_into_use_since_it_was_listed_stays(tmp_path: Path) -> None:
    home = home_of(tmp_path, "mine", FakeRuntime())
    used, left = stored(home, "etcd", "3.6.16"), stored(home, "etcd", "3.5.24")
    shown = survey(home, everything=False)
    assert len(shown.unused) == 2

    store_of(home.cache, here()).find("etcd", "3.6.16")

    assert prune(home, shown, everything=False) > 0
    assert used.path.exists()
    assert not left.path.exists()


def test_everything_is_removed_on_request(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    home = home_of(tmp_path, "mine", runtime)
    cluster(home, runtime, {"etcd": stored(home, "etcd", "3.6.16")})

    shown = survey(home, everything=True)

    assert shown.kept == {}
    assert len(shown.unused) == 1
