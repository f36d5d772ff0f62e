"""Identifiers as kubelets give them, derived from names: the same things always have the same ones."""

from functools import lru_cache
from hashlib import sha256

RUNTIME = "kwok"
"""The scheme of container identifiers, like `containerd` on real nodes."""

_REGISTRY, _FOLDER = "docker.io", "library"
_REMEMBERED = 4096


def container_id(pod_uid: str, container: str) -> str:
    """Return the identifier of a container: the uid of its pod, and digits for its own name."""
    return f"{RUNTIME}://{pod_uid.replace('-', '')}{_half(container)}"


@lru_cache(_REMEMBERED)
def image_id(image: str) -> str:
    """Return the identifier of a pulled image: its full name with a digest.

    The rules for names are those of https://github.com/distribution/reference.
    """
    name, at, digest = image.partition("@")
    if not at:
        digest = f"sha256:{_digest(image).hex()}"
        folder, slash, last = name.rpartition("/")
        name = f"{folder}{slash}{last.partition(':')[0]}"
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"{_REGISTRY}/{_FOLDER}/{name}"
    elif not ("." in first or ":" in first or first == "localhost"):
        name = f"{_REGISTRY}/{name}"
    return f"{name}@{digest}"


@lru_cache(_REMEMBERED)
def _half(name: str) -> str:
    return _digest(name)[:16].hex()


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
