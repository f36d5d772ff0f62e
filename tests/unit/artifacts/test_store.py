import os
from pathlib import Path

import pytest

from kwokctl.artifacts.store import Entry, ProgramStore, digest
from kwokctl.errors import ArtifactError


@pytest.fixture
def store(tmp_path: Path) -> ProgramStore:
    return ProgramStore(tmp_path / "store")


def _publish(store: ProgramStore, tmp_path: Path, content: bytes = b"#!/bin/sh\n") -> Entry:
    program = tmp_path / "work" / "built"
    program.parent.mkdir(exist_ok=True)
    program.write_bytes(content)
    return store.publish(program, name="etcd", version="3.6.16", source="build", origin="here")


def test_what_is_published_is_found(store: ProgramStore, tmp_path: Path) -> None:
    entry = _publish(store, tmp_path)

    assert store.find("etcd", "3.6.16") == entry
    assert entry.path == tmp_path / "store" / "etcd" / "3.6.16" / "etcd"
    assert entry.sha256 == digest(entry.path)
    assert os.access(entry.path, os.X_OK)
    assert list((tmp_path / "work").iterdir()) == []


def test_what_is_not_here_is_not_found(store: ProgramStore) -> None:
    assert store.find("etcd", "3.6.16") is None


def test_publishing_again_replaces_and_leaves_running_programs_their_file(
    store: ProgramStore, tmp_path: Path
) -> None:
    old = _publish(store, tmp_path)
    with old.path.open("rb") as running:
        new = _publish(store, tmp_path, b"#!/bin/sh\nnew\n")

        assert running.read() == b"#!/bin/sh\n"
    assert new.path.read_bytes() == b"#!/bin/sh\nnew\n"
    assert store.find("etcd", "3.6.16") == new
    assert list((tmp_path / "work").iterdir()) == []


def test_a_changed_program_is_refused_with_a_hint(store: ProgramStore, tmp_path: Path) -> None:
    entry = _publish(store, tmp_path)
    entry.path.write_bytes(b"#!/bin/no\n")

    with pytest.raises(ArtifactError, match="has changed since it was stored") as caught:
        store.find("etcd", "3.6.16")

    assert str(entry.path) in str(caught.value)
    assert "artifacts verify --repair" in str(caught.value.hint)


def test_a_copied_store_is_read_once_and_then_trusted(store: ProgramStore, tmp_path: Path) -> None:
    entry = _publish(store, tmp_path)
    os.utime(entry.path, ns=(1, 1))
    entry.path.chmod(0o644)

    again = store.find("etcd", "3.6.16")

    assert again is not None
    assert again.mtime_ns == 1
    assert again.is_as_recorded()
    assert os.access(entry.path, os.X_OK)
    assert store.find("etcd", "3.6.16") == again


def test_a_program_whose_time_and_size_are_kept_is_not_read(
    store: ProgramStore, tmp_path: Path
) -> None:
    entry = _publish(store, tmp_path)
    entry.path.write_bytes(b"#!/bin/no\n")
    os.utime(entry.path, ns=(entry.mtime_ns, entry.mtime_ns))

    assert store.find("etcd", "3.6.16") == entry


@pytest.mark.parametrize("lost", ["etcd", "record.json"])
def test_half_an_entry_is_none(store: ProgramStore, tmp_path: Path, lost: str) -> None:
    folder = _publish(store, tmp_path).path.parent
    (folder / lost).unlink()

    assert store.find("etcd", "3.6.16") is None
    assert list(store.entries()) == []
    assert list(store.broken()) == [folder]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"size": 1}', "nonsense"])
def test_a_record_that_cannot_be_read_is_none(
    store: ProgramStore, tmp_path: Path, text: str
) -> None:
    folder = _publish(store, tmp_path).path.parent
    (folder / "record.json").write_text(text)

    assert store.find("etcd", "3.6.16") is None


def test_entries_are_listed_by_name_and_version(store: ProgramStore, tmp_path: Path) -> None:
    entry = _publish(store, tmp_path)

    assert list(store.entries()) == [entry]


def test_a_removed_program_is_gone(store: ProgramStore, tmp_path: Path) -> None:
    entry = _publish(store, tmp_path)

    store.remove(entry)

    assert store.find("etcd", "3.6.16") is None
    assert not entry.path.parent.exists()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed_to_this_user_is_named(tmp_path: Path) -> None:
    store = ProgramStore(tmp_path / "store" / "linux")
    assert store.closed("etcd", os.W_OK) is None

    (tmp_path / "store").mkdir(mode=0o500)
    assert store.closed("etcd", os.R_OK) is None
    assert store.closed("etcd", os.W_OK) == tmp_path / "store"

    (tmp_path / "store").chmod(0o000)
    assert store.closed("etcd", os.R_OK) == tmp_path / "store"
