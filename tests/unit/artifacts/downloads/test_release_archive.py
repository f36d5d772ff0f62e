""""""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.artifacts.downloads.download import extract
from kwokctl.errors import ArtifactError


def _tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        packed.mkdir("release")
        for name, content in files.items():
            packed.writestr(name, content)
    return path


_FILES = {"release/README": b"read me", "release/etcd": b"one", "release/etcdctl": b"two"}


@pytest.mark.parametrize("pack", [_tar, _zip])
def test_members_are_taken_out_by_their_file_name(
    tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    archive = pack(tmp_path / "archive", _FILES)

    found = extract(archive, {"etcd", "etcdctl", "etcdutl"}, tmp_path / "out", title="it")

    assert {name: path.read_bytes() for name, path in found.items()} == {
        "etcd": b"one",
        "etcdctl": b"two",
    }
    assert not (tmp_path / "out" / "README").exists()


def test_a_member_cannot_be_written_elsewhere(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "archive", {"../../etcd": b"evil"})

    found = extract(archive, {"etcd"}, tmp_path / "out", title="it")

    assert found == {"etcd": tmp_path / "out" / "etcd"}


def test_a_link_is_no_member(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive", "w:gz") as tar:
        link = tarfile.TarInfo("release/etcd")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        tar.addfile(link)

    assert extract(tmp_path / "archive", {"etcd"}, tmp_path / "out", title="it") == {}


def test_what_is_no_archive_is_refused_by_its_title(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(b"#!/bin/sh\n")

    with pytest.raises(ArtifactError, match="'https://it' is not a complete tar or zip archive"):
        extract(tmp_path / "archive", {"etcd"}, tmp_path / "out", title="https://it")


def test_half_an_archive_is_refused(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "archive", {"release/etcd": bytes(range(256)) * 400})
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])

    with pytest.raises(ArtifactError, match="is not a complete tar or zip archive"):
        extract(archive, {"etcd"}, tmp_path / "out", title="it")
