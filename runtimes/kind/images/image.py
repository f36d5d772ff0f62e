"""Provides the image of the node: given by name or as a file, pulled, or made here."""

import asyncio
import io
import tarfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event

from kwokctl.artifacts.background import Post, in_thread
from kwokctl.artifacts.versions import minor
from kwokctl.errors import ArtifactError, ConfigError, NotFoundError, UsageError
from kwokctl.images import NodeImage
from kwokctl.model import Artifact
from runtimes.engine.engine_client import Engine
from runtimes.engine.engine_images import REPOSITORY, EngineImages, tag_of
from runtimes.kind.images import recipe

_VERSION = "/kind/version"
"""The file of a node image with the version of its Kubernetes."""
_NAME = "node"
_FILES = (".tar", ".tar.gz", ".tgz")


class KindNodeImages:
    """The images of nodes that an engine has. Every method raises what Engine does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.engine = EngineImages(engine)
        self.programs = (*recipe.ON_NODE, *recipe.CONTROL_PLANE)

    async def obtain(
        self,
        given: str,
        *,
        kube: str,
        may_pull: bool = True,
        came: Callable[[int], None] = lambda _: None,
    ) -> NodeImage:
        """Have the image of this name, or in this file."""
        image = given
        if file := await asyncio.to_thread(file_of, given):
            image = (await self.engine.load(file))[0]
        elif not await self.engine.has(given):
            if not may_pull:
                raise ArtifactError(
                    f"the engine does not have the node image '{given}'",
                    hint="load it, or leave out '--artifact-source offline'",
                )
            await self._pull(given, came)
            await self._tag(given)
        inside = await self._kube(image)
        if minor(inside) != minor(kube):
            raise ConfigError(
                f"the node image '{image}' holds Kubernetes {inside}, not {kube}",
                hint=f"give --kube-version {inside}, or another image",
            )
        return NodeImage(name=image, kube=inside)

    async def made(self, kube: str) -> str | None:
        """Return an image that was made of this version, here or elsewhere."""
        return await self.engine.made(Artifact(name=_NAME, version=kube))

    async def is_bare(self, image: str) -> bool:
        """Return whether an image lacks what kind adds to a control plane."""
        inspected = await self._engine.ask("inspect_image", image)
        return recipe.BARE in ((inspected.get("Config") or {}).get("Labels") or {})

    def check(self) -> None:
        """Raise UnavailableError, with a remedy, unless images can be made on this machine."""
        recipe.check_tools()

    async def make(
        self,
        programs: Mapping[str, Artifact],
        *,
        kube: str,
        folder: Path,
        say: Callable[[str], None],
    ) -> str:
        """Make an image of these programs, unless it is here already, and return its name."""
        paths = {name: Path(programs[name].command[0]) for name in self.programs}
        name = await asyncio.to_thread(made_name, paths, kube)
        if await self.engine.has(name):
            return name
        self.check()
        root, file = folder / "root", folder / "node.tar"
        await recipe.install_debian(root, say)
        names = await recipe.image_names(paths["kubeadm"], kube)

        def work(stop: Event, post: Post) -> None:
            def going_on() -> None:
                if stop.is_set():
                    raise InterruptedError

            post(say, "adding Kubernetes")
            recipe.furnish(root, paths, kube=kube, pause=names["pause"])
            recipe.write_control_plane(root, paths, names, folder)
            post(say, "writing the image")
            recipe.write_node(file, root, name, going_on)

        await in_thread(work)
        say("loading it into the container engine")
        await self.engine.load(file)
        return name

    async def _pull(self, image: str, came: Callable[[int], None]) -> None:
        try:
            await self.engine.pull(image, came=came)
        except ArtifactError as e:
            raise ArtifactError(
                f"the engine does not have the node image '{image}', and it cannot be pulled",
                hint="name another, or a file that holds it, with --kind-node-image or "
                "KWOK_KIND_NODE_IMAGE; KWOK_KIND_NODE_IMAGE_PREFIX names another registry; "
                "'kwokctl artifacts images --runtime kind --build' makes one without a registry",
                detail=e.detail or str(e),
            ) from e

    async def _tag(self, image: str) -> None:
        """Give an image that was pulled by its digest its tag, too: a file keeps only that."""
        name, at, _ = image.partition("@")
        repository, colon, tag = name.rpartition(":")
        if at and colon and "/" not in tag:
            await self._engine.ask("tag", image, repository, tag)

    async def _kube(self, image: str) -> str:
        """Read the version in an image; its program is not run for it."""

        def read() -> str:
            with self._engine.dialled() as client:
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
            f"'{image}' is not a node image of kind: there is no '{_VERSION}' in it",
            hint="'kind build node-image' makes one; those of kind's project are "
            "'kindest/node:VERSION'",
        )


def made_name(programs: Mapping[str, Path], kube: str) -> str:
    """Name the image that is made of these programs."""
    return f"{REPOSITORY}/{_NAME}:{tag_of(kube)}-{recipe.mark(programs)}"


def file_of(given: str) -> Path | None:
    """Return the file that was given; UsageError for a path at which there is none.

    Names of images begin with a letter or digit.
    """
    path = Path(given).expanduser()
    if path.is_file():
        return path
    if given.startswith(("/", ".", "~")) or given.endswith(_FILES):
        raise UsageError(
            f"there is no file '{path.absolute()}' with the image of the node",
            hint="give '--kind-node-image' the path of a file that 'docker save' or 'kwokctl "
            "artifacts images --save' wrote, or the name of an image",
        )
    return None
