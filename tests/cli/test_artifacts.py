"""The programs in the store, as the command line shows and removes them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.artifacts.resolve import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.artifacts.target import here
from kwokctl.cli import compose
from kwokctl.progress import Silent
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]


@pytest.fixture
def etcd(runner: RecordingRunner, tmp_path: Path) -> Entry:
    """A program in the store of the user whose environment the runner has set."""
    assert not runner.calls
    program = tmp_path / "etcd"
    program.write_bytes(b"#!/bin/sh\n" + b"#" * 1_999_990)
    store = store_of(compose.home(Silent()).cache, here())
    store.root.mkdir(parents=True)
    return store.publish(
        program.rename(store.root / "coming"),
        name="etcd",
        version="3.6.16",
        source="build",
        origin="go.etcd.io/etcd",
    )


def test_programs_are_listed_with_their_size_and_where_they_are(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts list") == 0
    heading, line = capfd.readouterr().out.splitlines()
    assert heading.split() == ["NAME", "VERSION", "SOURCE", "SIZE", "PATH"]
    assert line.split() == ["etcd", "3.6.16", "build", "2.0", "MB", str(etcd.path)]

    assert words("artifacts list -o json") == 0
    [listed] = json.loads(capfd.readouterr().out)
    assert set(listed) == {"name", "version", "source", "origin", "sha256", "size", "path"}


def test_a_program_that_has_changed_is_named_and_fails(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts verify") == 0
    etcd.path.write_bytes(b"evil")
    capfd.readouterr()
    assert words("artifacts verify") == 1
    error = capfd.readouterr().err
    assert "error: a program has changed since it was stored\n" in error
    assert f"output: {etcd.path}\n" in error


def test_programs_that_no_cluster_uses_are_removed(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts prune") == 0
    out, err = capfd.readouterr()
    assert str(etcd.path.parent) in out
    assert err.endswith("are free again\n")
    assert not etcd.path.exists()
