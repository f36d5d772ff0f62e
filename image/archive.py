"""Writes a folder as a container image of one layer, in the form of `docker save`."""

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path

from image.tree import APPLICATION, USER

_MODIFIED = 0
"""The time of all files: the same sources give the same image."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its name, and the configuration of its containers."""

    tag: str
    arch: str
    entrypoint: tuple[str, ...]
    environment: tuple[str, ...]
    """Beside that of Python."""
    ports: tuple[int, ...] = ()
    compression: int = 6
    """Of gzip: 1 is the quickest."""


def write_archive(tree: Path, target: Path, image: Image) -> None:
    """Write the tree as an image."""
    layer = _layer(tree)
    configuration = json.dumps(_configuration(layer, image)).encode()
    name = f"{hashlib.sha256(configuration).hexdigest()}.json"
    packed = gzip.compress(layer, compresslevel=image.compression, mtime=_MODIFIED)
    manifest = [{"Config": name, "RepoTags": [image.tag], "Layers": ["layer.tar.gz"]}]
    with tarfile.open(target, "w") as archive:
        for path, content in (
            ("layer.tar.gz", packed),
            (name, configuration),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _layer(tree: Path) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as layer:
        for path in sorted(tree.rglob("*")):
            layer.add(path, str(path.relative_to(tree)), recursive=False, filter=_plain)
    return written.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = _MODIFIED
    return member


def _configuration(layer: bytes, image: Image) -> dict[str, object]:
    return {
        "architecture": image.arch,
        "os": "linux",
        "config": {
            "Entrypoint": list(image.entrypoint),
            "Env": [
                "PATH=/usr/bin",
                f"PYTHONPATH=/{APPLICATION}",
                "PYTHONDONTWRITEBYTECODE=1",
                "PYTHONUNBUFFERED=1",
                *image.environment,
            ],
            "ExposedPorts": {f"{port}/tcp": {} for port in image.ports},
            "User": f"{USER}:{USER}",
            "WorkingDir": "/",
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created_by": "image/make_image.py"}],
    }
