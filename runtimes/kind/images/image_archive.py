"""Writes images to files as `docker save` does, without an engine.

The form is that of https://github.com/moby/moby/blob/master/image/spec/spec.md.
"""

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from kwokctl.artifacts.program_platform import here

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image with one layer."""

    name: str
    layer: Path
    """A tar file."""
    digest: str
    """The SHA-256 of the layer."""
    config: Mapping[str, object] = msgspec.field(default_factory=dict)
    """The configuration of its containers, in the words of the form."""


def write_images(file: Path, images: list[Image]) -> None:
    """Write images to a file that an engine, or containerd, can load."""
    manifest = []
    with tarfile.open(file, "w") as archive:
        for image in images:
            description = _description(image)
            name = f"{hashlib.sha256(description).hexdigest()}.json"
            layer = f"{image.digest}/layer.tar"
            _add(archive, name, description)
            archive.add(image.layer, layer)
            manifest.append({"Config": name, "RepoTags": [image.name], "Layers": [layer]})
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def layer_of_programs(file: Path, programs: Mapping[str, Path]) -> str:
    """Write a layer with programs, each at its place, and return its SHA-256."""
    with _layer(file) as (layer, hashing):
        scratch = tarfile.TarInfo("tmp")
        scratch.type, scratch.mode = tarfile.DIRTYPE, 0o1777
        layer.addfile(scratch)
        for place, program in programs.items():
            head = tarfile.TarInfo(place)
            head.size, head.mode = program.stat().st_size, 0o755
            with program.open("rb") as content:
                layer.addfile(head, content)
    return hashing.digest()


def layer_of_tree(file: Path, root: Path, going_on: Callable[[], None]) -> str:
    """Write a layer with all below `root`, but what the engine puts there, and return its SHA-256.

    `going_on` is called for each file, and may raise to end the work.
    """

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        going_on()
        return None if member.name.startswith(_OF_THE_ENGINE) else member

    with _layer(file) as (layer, hashing):
        layer.add(root, ".", filter=kept)
    return hashing.digest()


_OF_THE_ENGINE = ("./dev/", "./proc/", "./sys/")


class _Hashing(BytesIO):
    """Passes on what is written, and knows its SHA-256."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, content: "ReadableBuffer") -> int:
        self._hash.update(content)
        return self._file.write(content)

    def digest(self) -> str:
        return self._hash.hexdigest()


@contextmanager
def _layer(file: Path) -> Iterator[tuple[tarfile.TarFile, _Hashing]]:
    with file.open("wb") as target:
        hashing = _Hashing(target)
        with tarfile.open(fileobj=hashing, mode="w|") as layer:
            yield layer, hashing


def _description(image: Image) -> bytes:
    return json.dumps(
        {
            "architecture": here().arch,
            "os": "linux",
            "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "config": {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}
            | dict(image.config),
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{image.digest}"]},
        }
    ).encode()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    head = tarfile.TarInfo(name)
    head.size = len(content)
    archive.addfile(head, BytesIO(content))
