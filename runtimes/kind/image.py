"""The image of the node: given by name or as a file, or pulled."""

import asyncio
import io
import tarfile
from contextlib import suppress
from pathlib import Path

from kwokctl.artifacts.versions import minor
from kwokctl.errors import ArtifactError, ConfigError, NotFoundError
from runtimes.engine.client import Engine
from runtimes.engine.images import EngineImages

_VERSION = "/kind/version"
"""Where a node image says which Kubernetes is in it."""


async def node_image(engine: Engine, given: str, *, kube: str) -> str:
    """Return the image that the engine has from now on.

    `given` is its name, or a file that `docker save` wrote. Raises ArtifactError where it cannot be
    had or is no node image, ConfigError where it holds another Kubernetes than `kube`.
    """
    is_file = await asyncio.to_thread(Path(given).is_file)
    images = EngineImages(engine)
    image = (await images.load(Path(given)))[0] if is_file else given
    if not await images.has(image):
        await _pull(images, image)
    inside = await _kube_version(engine, image)
    if minor(inside) != minor(kube):
        raise ConfigError(
            f"the node image '{image}' holds Kubernetes {inside}, not {kube}",
            hint=f"say so with --kube-version {inside}, or give another image",
        )
    return image


async def _pull(images: EngineImages, image: str) -> None:
    try:
        await images.pull(image, came=lambda _: None)
    except ArtifactError as e:
        raise ArtifactError(
            f"the image of the node, '{image}', is not here and cannot be pulled",
            hint="name another, or a file that holds it, with --kind-node-image or "
            "KWOK_KIND_NODE_IMAGE; KWOK_KIND_NODE_IMAGE_PREFIX names another registry",
            detail=e.detail or str(e),
        ) from e


async def _kube_version(engine: Engine, image: str) -> str:
    """Read the version in an image; its program is not run for it."""

    def read() -> str:
        with engine.dialled() as client:
            made = client.create_container_from_config({"Image": image, "Cmd": ["none"]}, None)
            try:
                parts, _ = client.get_archive(made["Id"], _VERSION)
                with tarfile.open(fileobj=io.BytesIO(b"".join(parts))) as archive:
                    file = archive.extractfile(archive.getmembers()[0])
                    return file.read().decode() if file else ""
            finally:
                client.remove_container(made["Id"], force=True, v=True)

    with suppress(NotFoundError):
        if version := (await asyncio.to_thread(read)).strip():
            return version
    raise ArtifactError(
        f"'{image}' is no image of a node of kind's: there is no '{_VERSION}' in it",
        hint="'kind build node-image' makes one; those of kind's project are 'kindest/node:VERSION'",
    )
