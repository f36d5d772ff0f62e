"""The image of kind's node as the product makes it, kept as a file for the engines of the tests."""

import os
from pathlib import Path

from kwokctl.artifacts.resolve import Source, resolve
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.clusters.programs.node_image import make_node_image, parts
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.progress import Silent
from runtimes.engine.client import Engine
from runtimes.engine.endpoint import Endpoint
from runtimes.kind.images.image import KindNodeImages, made_name
from tests.support.debian import NotInstallableError, install


class NoImageError(Exception):
    """The image cannot be had here, and this is why."""


async def node_image(docker_host: str) -> Path:
    """Return a file that holds the image; make it with the engine at `docker_host` if need be."""
    images = KindNodeImages(Engine(Endpoint(url=docker_host)))
    options = ClusterOptions()
    programs = await resolve(
        parts(images, options), source=Source.AUTO, cache=cache_dir(), progress=Silent()
    )
    paths = {name: Path(artifact.command[0]) for name, artifact in programs.items()}
    mark = made_name(paths, DEFAULT_KUBE_VERSION).rpartition("-")[2]
    file = cache_dir() / "tests" / f"node-{mark}.tar"
    if not file.exists():
        _obtain_debootstrap()
        home = Home(workdir=WorkDir(cache_dir() / "tests"), cache=cache_dir())
        name = await make_node_image(home, images, options)
        partial = file.with_suffix(f".{os.getpid()}")
        await images.engine.save([name], partial)
        partial.rename(file)
        for old in set(file.parent.glob("node-*.tar")) - {file}:
            old.unlink(missing_ok=True)
    return file


def _obtain_debootstrap() -> None:
    try:
        install(("debootstrap", "unshare"), ("debootstrap", "util-linux"))
    except NotInstallableError as e:
        raise NoImageError(str(e)) from e
