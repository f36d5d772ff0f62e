"""Makes the container image of the command `kwok`, from Debian's packages and the wheel.

`python image/make_image.py` writes `dist/kwok-VERSION-ARCH.tar`, which `docker load` and `kind load
image-archive` read, and loads it if there is a container engine. No engine is needed to make it, and no
base image: it holds Python, the libraries that it needs, and our packages; no shell.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from image import machine_code
from image.archive import Image, write_archive
from image.commands import ROOT
from image.tree import MACHINES, add_application, add_packages
from kwokctl import __version__
from kwokctl.clusters.in_cluster.manifest_request import IMAGE


def kwok_image(arch: str) -> Image:
    """Return how the image runs."""
    return Image(
        tag=IMAGE,
        arch=arch,
        entrypoint=("/usr/bin/python3.11", "-P", "-m", "kwokctl.kwok"),
        environment=("HOME=/tmp",),
    )


def main() -> int:
    """Make the image, and load it if there is an engine."""
    given = _parser().parse_args()
    with TemporaryDirectory(prefix="kwok-image-") as folder:
        tree = Path(folder) / "tree"
        add_packages(tree, Path(folder) / "packages", given.arch)
        add_application(tree, Path(folder) / "wheels", given.arch)
        target = given.to / f"kwok-{__version__}-{given.arch}.tar"
        return deliver(tree, target, kwok_image(given.arch), load=given.load)


def deliver(tree: Path, target: Path, image: Image, *, load: bool) -> int:
    """Write an image, and load it if there is an engine; return the exit code."""
    programs = machine_code.check(tree, image.arch)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_archive(tree, target, image)
    print(f"{target}: {target.stat().st_size / 1e6:.0f} MB, {programs} programs and libraries")
    if load and shutil.which("docker"):
        return subprocess.run(["docker", "load", "--input", target], check=False).returncode
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--arch", choices=tuple(MACHINES), default="amd64")
    made.add_argument("--to", type=Path, default=ROOT / "dist", metavar="DIR")
    made.add_argument("--no-load", dest="load", action="store_false")
    return made


if __name__ == "__main__":
    sys.exit(main())
