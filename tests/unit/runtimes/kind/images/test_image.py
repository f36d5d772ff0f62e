"""The images of nodes: which file is meant, and what a made one consists of."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ArtifactError, UsageError
from runtimes.kind.images.image import file_of
from runtimes.kind.images.image_archive import Image, layer_of_programs, layer_of_tree, write_images
from runtimes.kind.images.recipe import furnish, install_debian

KUBE = "v1.36.3"


@pytest.mark.parametrize("path", ["/nosuch.tar", "./nosuch", "../nosuch", "~/nosuch", "nosuch.tar"])
def test_a_path_without_a_file_is_not_taken_for_the_name_of_an_image(path: str) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        file_of(path)


@pytest.mark.parametrize("name", ["kindest/node:v1.36.4", "node", "localhost:5000/node@sha256:00"])
def test_a_name_is_no_file(name: str) -> None:
    assert file_of(name) is None


def test_a_file_is_one_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "node").touch()
    monkeypatch.chdir(tmp_path)

    assert file_of("node") == Path("node")
    assert file_of(str(tmp_path / "node")) == tmp_path / "node"


@pytest.fixture
def failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that says how often debootstrap fails before it installs something."""
    left = tmp_path / "failures"
    programs = {
        "unshare": 'shift 2; exec "$@"',
        "debootstrap": f"""\
root=$4; mkdir "$root" || exit 2
left=$(cat {left})
[ "$left" = 0 ] && exec touch "$root/debian"
echo $((left - 1)) > {left}; echo "E: no mirror" >&2; exit 1""",
    }
    (tmp_path / "bin").mkdir()
    for name, script in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return left


async def test_debian_is_installed_at_the_second_try(failures: Path, tmp_path: Path) -> None:
    failures.write_text("1")
    said: list[str] = []

    await install_debian(tmp_path / "root", said.append)

    assert (tmp_path / "root" / "debian").exists()
    assert "debootstrap failed, trying once more" in said


async def test_a_failed_installation_of_debian_is_an_error_with_the_last_lines_of_the_tool(
    failures: Path, tmp_path: Path
) -> None:
    failures.write_text("2")

    with pytest.raises(ArtifactError, match="cannot install Debian") as refused:
        await install_debian(tmp_path / "root", lambda _: None)

    assert "no mirror" in str(refused.value.detail)


def read(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file
    return file.read()


def test_images_are_written_as_engines_read_them(tmp_path: Path) -> None:
    program, layer = tmp_path / "etcd", tmp_path / "layer.tar"
    program.write_bytes(b"a program")
    digest = layer_of_programs(layer, {"usr/local/bin/etcd": program})
    image = Image(name="x/etcd:1", layer=layer, digest=digest, config={"Entrypoint": ["/etcd"]})

    write_images(tmp_path / "images.tar", [image])

    with tarfile.open(tmp_path / "images.tar") as archive:
        (entry,) = json.loads(read(archive, "manifest.json"))
        described: dict[str, Any] = json.loads(read(archive, entry["Config"]))
        archive.extract(entry["Layers"][0], tmp_path, filter="data")
    assert entry["RepoTags"] == ["x/etcd:1"]
    assert described["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    assert described["config"]["Entrypoint"] == ["/etcd"]
    with tarfile.open(tmp_path / entry["Layers"][0]) as content:
        assert content.getmember("usr/local/bin/etcd").mode == 0o755
        assert content.getmember("tmp").mode == 0o1777
        assert read(content, "usr/local/bin/etcd") == b"a program"


def test_a_tree_is_written_without_what_the_engine_puts_there(tmp_path: Path) -> None:
    for name in ("dev/null", "proc/1", "etc/hosts"):
        (tmp_path / "root" / name).parent.mkdir(parents=True)
        (tmp_path / "root" / name).touch()

    layer_of_tree(tmp_path / "layer.tar", tmp_path / "root", lambda: None)

    with tarfile.open(tmp_path / "layer.tar") as layer:
        assert set(layer.getnames()) == {".", "./dev", "./proc", "./etc", "./etc/hosts"}


def test_writing_a_tree_ends_on_cancellation(tmp_path: Path) -> None:
    def end() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        layer_of_tree(tmp_path / "layer.tar", tmp_path, end)


def test_a_node_image_is_made_from_debian(tmp_path: Path) -> None:
    root, programs = tmp_path / "root", {}
    for folder in ("usr/bin", "usr/lib/cni"):
        (root / folder).mkdir(parents=True)
    for name in ("kubelet", "kubeadm", "kubectl"):
        programs[name] = tmp_path / name
        programs[name].write_bytes(b"a program")

    furnish(root, programs, kube=KUBE, pause="registry.k8s.io/pause:3.10.2")

    assert (root / "kind/version").read_text() == f"{KUBE}\n"
    assert (
        'sandbox_image = "registry.k8s.io/pause:3.10.2"'
        in (root / "etc/containerd/config.toml").read_text()
    )
    assert (root / "usr/local/bin/entrypoint").stat().st_mode & 0o777 == 0o755
    enabled = root / "etc/systemd/system/multi-user.target.wants"
    assert {link.name for link in enabled.iterdir()} == {
        "containerd.service", "images.service", "kubelet.service",
    }  # fmt: skip
