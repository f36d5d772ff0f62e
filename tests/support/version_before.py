"""What the version before this one has left on disk: a stopped cluster with a mark, a snapshot, objects and a recording.

They came from its binary runtime with Kubernetes v1.36.3, in this order: `create cluster --nodes 3 --pods 4` with a
Stage of its own for pods with the label `watched`, `snapshot mark start`, `snapshot record` while a pod got that
label, the ConfigMap `kept` was created and the pods were scaled to 6, `snapshot save` in both formats, `stop
cluster`. Paths of that machine have names of their own in the files; the keys are of no other cluster.
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

NAME, KUBE_VERSION = "before", "v1.36.3"
MARK, NODES, PODS_AT_MARK, PODS = "start", 3, 4, 6

_PACKED = Path(__file__).parents[1] / "golden" / "version-before.tar.xz"
_PORT = re.compile(rb"^ +\w+Port: ([1-9]\d*)$", re.MULTILINE)


def unpacked(cluster: Installed) -> Path:
    """Put the cluster among those of `cluster`, with ports that are free; return the folder of the other files."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(_PACKED.read_bytes()))) as packed:
        packed.extractall(cluster.folder / "former", filter="data")
    former = cluster.folder / "former"
    root = cluster.workdir / "clusters" / NAME
    root.parent.mkdir(parents=True)
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
        if file.is_file() and "etcd" not in file.relative_to(root).parts:
            file.write_bytes(words.sub(lambda found: new[found[0]], file.read_bytes()))
    return former
