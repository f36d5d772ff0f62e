"""The programs in the store, as the command line shows and removes them."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.store import Entry
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
    assert set(listed) == {
        "name",
        "version",
        "source",
        "origin",
        "sha256",
        "checksum",
        "size",
        "path",
    }


def test_a_program_that_has_changed_is_named_and_fails(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts verify") == 0
    assert "✓ Verifying the store" in capfd.readouterr().err

    etcd.path.write_bytes(b"evil")

    assert words("artifacts verify") == 1
    error = capfd.readouterr().err
    assert "✗ Verifying the store" in error
    assert "✓" not in error
    assert "error: a program has changed since it was stored\n" in error
    assert "artifacts verify --repair" in error
    assert f"output: {etcd.path}\n" in error


def test_verify_repairs_damaged_programs_on_request(
    words: Words, etcd: Entry, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    etcd.path.write_bytes(b"evil")

    assert words("artifacts verify --repair") == 0

    (verb, (damaged,), options) = runner.calls[-1]
    assert (verb, [each.path for each in damaged]) == ("repair", [etcd.path])
    assert options["source"] == "auto"
    assert "1 program repaired" in capfd.readouterr().err


def unused(entry: Entry) -> Entry:
    """Let a program look as if it was last used long ago."""
    os.utime(entry.path.parent / "record.json", (0, 0))
    return entry


def test_unused_programs_are_listed_and_then_removed(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    unused(etcd)

    assert words("artifacts prune --dry-run") == 0
    out, err = capfd.readouterr()
    assert out == f"{etcd.path.parent}\n"
    assert "2.0 MB would be freed; nothing was removed" in err
    assert etcd.path.exists()

    assert words("artifacts prune --yes") == 0
    out, err = capfd.readouterr()
    assert out == f"{etcd.path.parent}\n"
    assert "2.0 MB freed" in err
    assert not etcd.path.exists()

    assert words("artifacts prune") == 0
    assert "nothing to remove" in capfd.readouterr().err


def test_without_a_terminal_nothing_is_removed_unless_it_is_confirmed(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    unused(etcd)

    assert words("artifacts prune") == 2

    assert "add --yes" in capfd.readouterr().err
    assert etcd.path.exists()


@pytest.mark.parametrize(("answer", "stays"), [("\n", True), ("no\n", True), ("y\n", False)])
def test_prune_asks_for_confirmation_on_a_terminal(
    words: Words, etcd: Entry, monkeypatch: pytest.MonkeyPatch, answer: str, stays: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    unused(etcd)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", Terminal())

    assert words("artifacts prune") == 0

    assert etcd.path.exists() == stays


def test_prune_keeps_a_recently_used_program_and_gives_the_reason(
    words: Words, etcd: Entry, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("artifacts prune --yes") == 0

    assert "kept, used within the last 24 hours: etcd 3.6.16" in capfd.readouterr().err
    assert etcd.path.exists()

    assert words("artifacts prune --all --yes") == 0
    assert not etcd.path.exists()
