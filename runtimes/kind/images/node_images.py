"""Brings images of the engine into the node, whose pods have a containerd of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from runtimes.engine.client import Engine
from runtimes.engine.images import EngineImages
from runtimes.engine.inside import Inside

_BROUGHT = "/var/lib/kwokctl/images"
"""Has a file for each image that the node has been given: it lives and dies with the node."""
# Unpacked by their first use, with the snapshotter of the node's own configuration.
_TAKE = """\
ctr --namespace=k8s.io images import --no-unpack "$1" && mkdir -p "$2" && touch "$2/$3"
"""
_HAS = 'if [ -e "$1/$2" ]; then echo yes; fi'


async def bring(engine: Engine, inside: Inside, image: str, *, by: Path) -> None:
    """Have the node know an image as the engine knows it now.

    `by` is where a file may lie meanwhile that the node sees at the same place.
    """
    told = await engine.ask("inspect_image", image)
    mark = sha256(f"{image} {told['Id']}".encode()).hexdigest()
    if await inside.run("sh", "-c", _HAS, "sh", _BROUGHT, mark):
        return
    with _for_a_while(by):
        await EngineImages(engine).save([image], by)
        await inside.run("sh", "-c", _TAKE, "sh", str(by), _BROUGHT, mark)


@contextmanager
def _for_a_while(file: Path) -> Iterator[None]:
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
