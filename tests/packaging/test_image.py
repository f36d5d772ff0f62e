"""The container image of `kwok`, as far as it can be tried without Debian's packages and an engine."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from image import machine_code
from image.archive import write_archive
from image.make_cluster_image import cluster_image
from image.make_image import kwok_image
from image.tree import APPLICATION, compile_modules
from kwokctl.clusters.in_cluster.manifest_request import IMAGE


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree" / "opt").mkdir(parents=True)
    (tmp_path / "tree" / "opt" / "program").write_text("content")
    return tmp_path / "tree"


def read(archive: Path, tag: str = IMAGE) -> tuple[dict[str, Any], list[tarfile.TarInfo]]:
    """Return the configuration, and the files of the layer."""
    folder = archive.with_suffix("")
    with tarfile.open(archive) as outer:
        outer.extractall(folder, filter="data")
    [manifest] = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["RepoTags"] == [tag]
    with tarfile.open(folder / manifest["Layers"][0]) as layer:
        return json.loads((folder / manifest["Config"]).read_bytes()), layer.getmembers()


def test_the_image_runs_kwok_as_a_user_without_rights(tree: Path, tmp_path: Path) -> None:
    write_archive(tree, tmp_path / "image.tar", kwok_image("amd64"))

    configuration, files = read(tmp_path / "image.tar")

    assert configuration["config"]["Entrypoint"][-2:] == ["-m", "kwokctl.kwok"]
    assert configuration["config"]["User"].startswith("65532")
    assert [(each.name, each.uid) for each in files] == [("opt", 0), ("opt/program", 0)]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the images have Python 3.11")
def test_modules_of_an_image_are_compiled_for_a_user_who_may_write_nothing(
    tree: Path, tmp_path: Path
) -> None:
    module = tree / APPLICATION / "program.py"
    module.parent.mkdir()
    module.write_text("print('compiled')\n")
    compile_modules(tree)
    # Not even another text, with another time, has it compiled again.
    module.write_text("print('not compiled')\n")
    write_archive(tree, tmp_path / "image.tar", kwok_image("amd64"))

    _, files = read(tmp_path / "image.tar")
    command = [sys.executable, "-c", "import program"]
    ended = subprocess.run(command, cwd=module.parent, check=True, capture_output=True, text=True)

    assert f"{APPLICATION}/__pycache__/program.cpython-311.pyc" in {each.name for each in files}
    assert ended.stdout == "compiled\n"


def test_the_same_files_are_the_same_image(tree: Path, tmp_path: Path) -> None:
    for name in ("a.tar", "b.tar"):
        write_archive(tree, tmp_path / name, kwok_image("arm64"))

    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_the_image_of_a_whole_cluster_offers_the_api_to_other_hosts(
    tree: Path, tmp_path: Path
) -> None:
    image = cluster_image("amd64")
    write_archive(tree, tmp_path / "image.tar", image)

    configuration, _ = read(tmp_path / "image.tar", image.tag)

    run = configuration["config"]
    assert run["ExposedPorts"] == {"6443/tcp": {}}
    assert {"KWOK_BIND_ADDRESS=0.0.0.0", "KWOK_KUBE_APISERVER_PORT=6443"} <= set(run["Env"])
    assert run["User"].startswith("65532")


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_an_image_with_programs_of_another_processor_is_refused(tree: Path, arch: str) -> None:
    number = {"amd64": 183, "arm64": 62}[arch]
    head = b"\x7fELF" + bytes(14) + number.to_bytes(2, "little")
    (tree / "opt" / "library.so").write_bytes(head)

    with pytest.raises(SystemExit, match=rf"not for {arch}: opt/library\.so"):
        machine_code.check(tree, arch)


def test_programs_of_an_image_are_counted(tree: Path) -> None:
    head = b"\x7fELF" + bytes(14) + (183).to_bytes(2, "little")
    (tree / "opt" / "program").write_bytes(head)

    assert machine_code.check(tree, "arm64") == 1
