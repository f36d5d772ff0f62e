"""The image of kind's node as the product makes it, kept as a file for the engines of the tests."""

import asyncio
import os
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.clusters.programs.node_image import make_node_image, parts
from kwokctl.clusters.state.home import Home
from kwokctl.host.noted_locks import turn
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.progress import Silent
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.kind.images.image import KindNodeImages, made_name
from tests.support.debian import NODE_IMAGE, NotInstalledError, need
from tests.support.options import cluster_options

_KUBE = os.environ.get("KWOKCTL_TEST_KUBE_VERSION") or DEFAULT_KUBE_VERSION
_OPTIONS = cluster_options(
    kube_version=_KUBE, etcd_version=os.environ.get("KWOKCTL_TEST_ETCD_VERSION", "")
)


class NoImageError(Exception):
    """The image is not available here; the message gives the reason."""


async def node_image(maker: AbstractContextManager[str]) -> Path:
    """Return a file that holds the image.

    `maker` yields the address of an engine; it is entered only if the image must be made.
    """
    programs = await resolve(
        parts(_images(""), _OPTIONS),
        source=ArtifactSource.AUTO,
        cache=cache_dir(),
        progress=Silent(),
    )
    paths = {name: Path(artifact.command[0]) for name, artifact in programs.items()}
    mark = made_name(paths, _KUBE).rpartition("-")[2]
    file = cache_dir() / "tests" / f"node-{mark}.tar"
    # Tests that run beside these may want it, too.
    async with turn(file.with_suffix(".lock"), doing="making a node image", waiting=_ignore):
        if not file.exists():
            with ExitStack() as stack:
                docker_host = await asyncio.to_thread(stack.enter_context, maker)
                await _make(_images(docker_host), file)
    return file


async def loaded_node_image(engine: Engine, maker: AbstractContextManager[str]) -> str:
    """Have an engine hold the image, and return its name there."""
    images = KindNodeImages(engine)
    if name := await images.made(DEFAULT_KUBE_VERSION):
        return name
    return (await images.engine.load(await node_image(maker)))[0]


async def _make(images: KindNodeImages, file: Path) -> None:
    try:
        need(NODE_IMAGE)
    except NotInstalledError as e:
        raise NoImageError(str(e)) from e
    home = Home(workdir=WorkDir(cache_dir() / "tests"), cache=cache_dir())
    name = await make_node_image(home, images, _OPTIONS)
    partial = file.with_suffix(".partial")
    await images.engine.save([name], partial)
    partial.rename(file)
    for old in set(file.parent.glob("node-*")) - {file, file.with_suffix(".lock")}:
        old.unlink(missing_ok=True)


def _images(docker_host: str) -> KindNodeImages:
    return KindNodeImages(Engine(Endpoint(url=docker_host)))


def _ignore(owner: str) -> None:
    """Say nothing of who makes it meanwhile."""
