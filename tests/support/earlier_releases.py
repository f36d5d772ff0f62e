"""What each release so far has left on disk: a stopped cluster with a mark, a snapshot, objects and a recording.

Beside that is what its controller has answered to a command.

`tests/support/pack_release.py` makes them, with the binary runtime and the Kubernetes of `KUBE_VERSION`. The folder of the
cluster is `cluster` beside the three files; in its text files the work folder is `/former/work`, the cache folder
`/former/cache`, Python `/former/python` and the kubeconfig `/former/kubeconfig`. The keys are of no other cluster.

`d4dd1848` is not a release but a commit, the last one before the tests of a new user's first day (`tests/first_day`) began.
`python -m tests.support.pack_release d4dd1848` has made it.
"""

import io
import lzma
import os
import re
import sys
import tarfile
from pathlib import Path

from kwokctl.host.paths import cache_dir
from tests.support.installed import Installed
from tests.support.ports import free_port

NAME, KUBE_VERSION = "first", "v1.36.3"
MARK, NODES, PODS_AT_MARK, PODS = "start", 3, 4, 6
NODE = "node-000000"

FOLDER = Path(__file__).parents[1] / "golden" / "releases"
SUFFIX, ANSWERS_SUFFIX = ".tar.xz", ".answers.json"
RELEASES = sorted(file.name.removesuffix(SUFFIX) for file in FOLDER.glob(f"*{SUFFIX}"))

_BINARY = {"etcd", "marks"}
"""Folders of a cluster whose files have sums of what is in them."""
_PORT = re.compile(rb"^ +\w+Port: ([1-9]\d*)$", re.MULTILINE)


def is_text(file: Path, cluster: Path) -> bool:
    """Return whether names and ports may be replaced in a file of a cluster's folder."""
    return file.is_file() and _BINARY.isdisjoint(file.relative_to(cluster).parts)


def unpack(release: str, folder: Path) -> None:
    """Write what a release has left into a folder."""
    packed = lzma.decompress((FOLDER / f"{release}{SUFFIX}").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


def adopt(release: str, cluster: Installed) -> Path:
    """Put its cluster among those of `cluster`, with ports that are free; return the folder of the other files."""
    former = cluster.folder / "former"
    unpack(release, former)
    root = cluster.workdir / "clusters" / NAME
    root.parent.mkdir(parents=True, exist_ok=True)
    (former / "cluster").rename(root)
    ports = _PORT.findall((root / "kwok.yaml").read_bytes())
    new = {
        b"/former/work": os.fsencode(cluster.workdir),
        b"/former/cache": os.fsencode(cache_dir()),
        b"/former/python": os.fsencode(sys.executable),
        b"/former/kubeconfig": os.fsencode(cluster.kubeconfig),
        **{port: str(free_port()).encode() for port in ports},
    }
    words = re.compile(b"|".join(rb"\b%b\b" % key if key.isdigit() else key for key in new))
    for file in root.rglob("*"):
        if is_text(file, root):
            file.write_bytes(words.sub(lambda found: new[found[0]], file.read_bytes()))
    return former
