"""The all-in-one image, kept as a file: what it is made of changes seldom, and kwokctl itself is mounted over it."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from image.make_cluster_image import cluster_image
from image.tree import APPLICATION
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.host.paths import cache_dir

_ROOT = Path(__file__).parents[2]
_MAKER = _ROOT / "image" / "make_cluster_image.py"
_OURS = ("kwokctl", "runtimes", "templates")
IMAGE = cluster_image(here().arch)


class NoImageError(Exception):
    """The image cannot be made here; the message gives the reason."""


def cluster_archive(environ: Mapping[str, str]) -> Path:
    """Return a file that holds the image; it is made if what it is made of has changed."""
    file = cache_dir() / "tests" / f"cluster-{_mark()}.tar"
    if not file.exists():
        folder = file.with_suffix(".partial")
        made = subprocess.run(
            [sys.executable, _MAKER, "--no-load", "--to", folder],
            env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            raise NoImageError(made.stderr.strip().splitlines()[-1])
        for old in file.parent.glob("cluster-*.tar"):
            old.unlink()
        [archive] = folder.glob("*.tar")
        archive.rename(file)
        folder.rmdir()
    return file


def mounted_sources() -> Iterator[str]:
    """Yield options of `docker run` that put kwokctl as it is now in place of the image's."""
    for name in _OURS:
        yield "--mount"
        yield f"type=bind,source={_ROOT / name},target=/{APPLICATION}/{name},readonly"


def _mark() -> str:
    """Return what changes with the packages, libraries and programs in the image."""
    digest = hashlib.sha256(DEFAULT_KUBE_VERSION.encode())
    for file in (_ROOT / "pyproject.toml", *sorted((_ROOT / "image").glob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
