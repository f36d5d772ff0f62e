"""Makes the all-in-one image: a whole cluster in one container, for machines on which kwokctl itself does not run.

`python image/make_cluster_image.py` writes `dist/kwok-cluster-VERSION-ARCH.tar`, and loads it if there is a
container engine. It holds what the image of `kwok` holds, and the programs of the control plane.
"""

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from image.archive import Image
from image.commands import ROOT, run
from image.make_image import deliver
from image.tree import APPLICATION, add_application, add_packages
from kwokctl import __version__
from kwokctl.artifacts.program_platform import here

_CACHE, _HOME = "var/cache", "home/kwok"
_SHELL = "dash"
"""By which the binary runtime starts programs."""
_ENTRY = "cluster_entry.py"
_PORT = 6443
_COMMAND = """\
#!/usr/bin/python3.11 -P
import sys

from kwokctl.cli.main import main

sys.exit(main())
"""


def cluster_image(arch: str) -> Image:
    """Return how the image runs."""
    return Image(
        tag=f"localhost/kwokctl/cluster:v{__version__}",
        arch=arch,
        entrypoint=("/usr/bin/python3.11", "-P", f"/{APPLICATION}/{_ENTRY}"),
        environment=(
            f"HOME=/{_HOME}",
            f"XDG_CACHE_HOME=/{_CACHE}",
            "KWOK_BIND_ADDRESS=0.0.0.0",
            f"KWOK_KUBE_APISERVER_PORT={_PORT}",
        ),
        ports=(_PORT,),
        compression=1,
    )


def add_programs(tree: Path) -> None:
    """Copy the programs of the control plane from the store, which gets those that it lacks."""
    run(
        [
            sys.executable,
            "-m",
            "kwokctl",
            "artifacts",
            "pull",
            "--to",
            str(tree / _CACHE / "kwokctl"),
        ]
    )
    (tree / _CACHE / "kwokctl").chmod(0o1777)
    (tree / _HOME).mkdir(parents=True)
    (tree / _HOME).chmod(0o1777)
    shutil.copy(Path(__file__).with_name(_ENTRY), tree / APPLICATION)
    shell = tree / "bin/sh"
    if not shell.is_symlink():
        shell.symlink_to("dash")
    (tree / "usr/bin/kwokctl").write_text(_COMMAND, "ascii")
    (tree / "usr/bin/kwokctl").chmod(0o755)


def main() -> int:
    """Make the image, and load it if there is an engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", metavar="DIR")
    parser.add_argument("--no-load", dest="load", action="store_false")
    given = parser.parse_args()
    arch = here().arch
    with TemporaryDirectory(prefix="kwok-image-") as folder:
        tree = Path(folder) / "tree"
        add_packages(tree, Path(folder) / "packages", arch, _SHELL)
        add_application(tree, Path(folder) / "wheels", arch)
        add_programs(tree)
        target = given.to / f"kwok-cluster-{__version__}-{arch}.tar"
        return deliver(tree, target, cluster_image(arch), load=given.load)


if __name__ == "__main__":
    sys.exit(main())
