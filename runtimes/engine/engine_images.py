"""Pulls, builds, saves and loads the images of an engine."""

import asyncio
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import BinaryIO

from kwokctl.artifacts.background import Post, in_thread
from kwokctl.artifacts.published_images import registry_of
from kwokctl.artifacts.store import ProgramStore, digest
from kwokctl.errors import ArtifactError, CommandError, NotFoundError
from kwokctl.host.files import replacing
from kwokctl.host.processes.lifecycle import check_program
from kwokctl.json_value import Json
from kwokctl.model import Artifact, Component, ComponentName
from runtimes.engine.engine_client import Engine

REPOSITORY = "localhost/kwokctl"
"""The name of images that kwokctl makes: no registry has them, and every engine keeps this name."""
DIGITS = 12
"""Of the SHA-256 of a program, in the tag of its image."""
_CHUNK = 1024 * 1024
_UNVERSIONED = "unversioned"
PLACE = "usr/local/bin"
"""The second folder of programs in published images; engines look there for a bare name."""
_PATIENCE = 20.0
"""Seconds within which a registry has to answer."""
_UNPACKING = 600.0
"""Seconds in which an engine unpacks a gigabyte, such as a node, on a busy machine and a slow disk."""


class EngineImages:
    """The images that an engine has. Every method raises what Engine does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def tool(self) -> str:
        """The command that speaks to this engine."""
        return self._engine.command

    async def has(self, image: str) -> bool:
        """Return whether the engine has an image."""
        try:
            await self._engine.ask("inspect_image", image)
        except NotFoundError:
            return False
        return True

    async def pull(self, image: str, *, came: Callable[[int], None]) -> None:
        """Let the engine pull an image, with the credentials that the docker command has."""
        name, tag = _parted(image)

        def work(stop: Event, post: Post) -> None:
            sizes: dict[str, int] = {}
            with self._engine.dialled() as client:
                for line in client.pull(name, tag=tag, stream=True, decode=True):
                    post(limit.reschedule, None)
                    if stop.is_set():
                        return
                    if error := line.get("error"):
                        raise CommandError(str(error), detail=str(error))
                    post(came, _newly_come(line, sizes))

        try:
            async with asyncio.timeout(_PATIENCE) as limit:
                await in_thread(work)
        except TimeoutError as e:
            raise _not_pulled(image, "no answer") from e
        except (CommandError, NotFoundError) as e:
            raise _not_pulled(image, _cause(e.detail or str(e))) from e

    async def made(self, artifact: Artifact) -> str | None:
        """Return the image made from a program, or from any of its name and version."""
        if artifact.command:
            image = await asyncio.to_thread(_name, artifact)
            return image if await self.has(image) else None
        found = await self._engine.ask("images", name=f"{REPOSITORY}/{artifact.name}")
        version = tag_of(artifact.version)
        tags = (tag for one in found for tag in one.get("RepoTags") or ())
        return next((tag for tag in tags if _parted(tag)[1].rpartition("-")[0] == version), None)

    async def make(self, artifact: Artifact) -> str:
        """Make an image of a static program; one that was made of it before is taken."""
        program = Path(artifact.command[0])
        check_program(ComponentName(artifact.name), program)
        image = await asyncio.to_thread(_name, artifact)
        if not await self.has(image):
            await self._import(program, artifact.name, image)
        return image

    async def save(self, images: Sequence[str], file: Path) -> None:
        """Write images to a file, whole or not at all, as `docker save` does."""

        def work(stop: Event, _post: Post) -> None:
            with replacing(file) as target:
                for part in self._saved(images):
                    if stop.is_set():
                        raise InterruptedError
                    target.write(part)

        try:
            await in_thread(work)
        except OSError as e:
            raise ArtifactError(
                f"'{file}' cannot be written: {e.strerror}", hint="name a file where there is room"
            ) from e

    async def load(self, file: Path) -> Sequence[str]:
        """Take the images of a file that `docker save` or we have written."""

        def work(_stop: Event, _post: Post) -> list[dict[str, object]]:
            dialled = self._engine.dialled_for(_UNPACKING)
            with file.open("rb") as content, dialled as client:
                return list(client.load_image(content))

        try:
            lines = await in_thread(work)
        except CommandError as e:
            lines = [{"error": e.detail or str(e)}]
        said = "".join(str(line.get("error") or line.get("stream") or "") for line in lines)
        # Docker says one a line, Podman all in one.
        names = [
            name
            for line in said.splitlines()
            if line.startswith((_LOADED, _UNNAMED))
            for name in line.removeprefix(_LOADED).removeprefix(_UNNAMED).split(",")
        ]
        if not names:
            raise ArtifactError(
                f"'{file}' holds no images that the container engine can load",
                hint="give a file that 'kwokctl artifacts images --save' or 'docker save' wrote",
                detail=said.strip(),
            )
        return names

    def _saved(self, images: Sequence[str]) -> Iterator[bytes]:
        """Yield the parts of a file of images, in a thread."""
        with self._engine.dialled() as client:
            # The SDK asks for one image only, and layers that several have would be there twice.
            url = f"{client.base_url}/v{client.api_version}/images/get"
            with client.get(url, params={"names": list(images)}, stream=True) as answer:
                answer.raise_for_status()
                yield from answer.iter_content(_CHUNK)

    async def _import(self, program: Path, name: str, image: str) -> None:
        try:
            file = program.open("rb")
        except OSError as e:
            raise CommandError(f"'{program}' cannot be read: {e.strerror}") from e
        with file:
            parts = _archive(file, f"{PLACE}/{name}")
            # With its tag in it: Podman ignores the parameter `tag`.
            said = await self._engine.ask("import_image_from_data", parts, repository=image)
        if '"error"' in said:
            raise CommandError(
                f"the image '{image}' cannot be made",
                hint="see whether the disk of the container engine has room",
                detail=said.strip(),
            )


_LOADED = "Loaded image: "
_UNNAMED = "Loaded image ID: "
"""The message for an image that was saved by its digest: the name is not in the file."""


def _newly_come(line: dict[str, Json], come: dict[str, int]) -> int:
    """Return how many bytes of a layer have come since `come`, by layer, and note them there."""
    now: int | None = (line.get("progressDetail") or {}).get("current")
    if line.get("status") != "Downloading" or now is None:
        return 0
    before = come.get(line["id"], 0)
    come[line["id"]] = max(now, before)
    return max(now - before, 0)


def _not_pulled(image: str, why: str) -> ArtifactError:
    return ArtifactError(
        f"the image '{image}' cannot be pulled from '{registry_of(image)}': {why}",
        hint="name a registry with KWOK_KUBE_IMAGE_PREFIX and KWOK_ETCD_IMAGE_PREFIX; or have the "
        "images made from programs: --artifact-source build",
    )


def _cause(said: str) -> str:
    """Return the innermost part of an engine's error, whose parts end with colons."""
    return said.strip().rpartition(": ")[2]


def _parted(image: str) -> tuple[str, str]:
    """Split a name from its tag, or from its digest."""
    name, at, content = image.partition("@")
    if at:
        return _parted(name)[0], content
    name, colon, tag = image.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (image, "latest")


def _name(artifact: Artifact) -> str:
    """Name the image of a program by its version and content, so that it is made once."""
    return named(artifact, content_of(Path(artifact.command[0])))


def named(artifact: Artifact, content: str) -> str:
    """Return the name of the image of a program with this SHA-256."""
    return f"{REPOSITORY}/{artifact.name}:{tag_of(artifact.version)}-{content[:DIGITS]}"


def tag_of(version: str) -> str:
    """Return a version as a tag may be written; no tag begins with what follows it."""
    return version.replace("+", "_") or _UNVERSIONED


def content_of(program: Path) -> str:
    """Return the SHA-256 of a program; one of the store is not read for it."""
    folder = program.parent
    stored = ProgramStore(folder.parent.parent).find(folder.parent.name, folder.name)
    return stored.sha256 if stored and stored.path == program else digest(program)


def _archive(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield a tar archive of one program, without having all of it in memory."""
    head = tarfile.TarInfo(name)
    head.size = os.fstat(file.fileno()).st_size
    head.mode = 0o755
    yield head.tobuf()
    while chunk := file.read(_CHUNK):
        yield chunk
    yield bytes(-head.size % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)


async def image_of(images: EngineImages, component: Component) -> str:
    """Return the image of a component, which the engine has from now on.

    Raises ArtifactError for a given image that is not there, ComponentError for a program that is
    not.
    """
    image = component.artifact.image
    if not image:
        return await images.make(component.artifact)
    if not await images.has(image):
        raise ArtifactError(
            f"the engine does not have the image '{image}' of '{component.name}'",
            hint=f"{images.tool} pull {image}",
        )
    return image
