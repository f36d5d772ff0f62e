"""A snapshot that the original kwokctl v0.8.0 has saved: 20 nodes, a deployment of 10 pods, a Secret.

It came from a cluster of its binary runtime with Kubernetes v1.36.3 and etcd 3.6.16: `scale node --replicas
20`, `kubectl create deployment web`, `secret generic s`, `namespace other`, `snapshot save`.
"""

import lzma
from pathlib import Path

_PACKED = Path(__file__).parents[1] / "golden" / "original-snapshot.db.xz"


def unpacked(folder: Path) -> Path:
    """Write it into a folder, and return its path."""
    file = folder / "original.db"
    file.write_bytes(lzma.decompress(_PACKED.read_bytes()))
    return file
