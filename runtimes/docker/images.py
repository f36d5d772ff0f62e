"""The images of components: given, or made from the programs that kwokctl has at hand."""

import asyncio
from pathlib import Path

from kwokctl.artifacts.store import Store, digest
from kwokctl.errors import ArtifactError
from kwokctl.host.processes.lifecycle import check_program
from kwokctl.model import Component
from runtimes.engine.client import Engine

_REPOSITORY = "kwokctl"
_DIGITS = 12


async def image_of(engine: Engine, component: Component) -> str:
    """Return the image of a component, which the engine has from now on.

    An image that is made bears the digest of its program, so that it is made once. Raises
    ArtifactError for a given image that is not there, ComponentError for a program that is not.
    """
    artifact = component.artifact
    if artifact.image:
        if not await engine.has_image(artifact.image):
            raise ArtifactError(
                f"the engine does not have the image '{artifact.image}', "
                f"given for '{component.name}'",
                hint=f"docker pull {artifact.image}",
            )
        return artifact.image
    program = Path(artifact.command[0])
    check_program(component.name, program)
    content = await asyncio.to_thread(_content, program)
    repository, tag = f"{_REPOSITORY}/{component.name}", f"{artifact.version}-{content[:_DIGITS]}"
    if not await engine.has_image(f"{repository}:{tag}"):
        await engine.import_program(program, name=component.name, repository=repository, tag=tag)
    return f"{repository}:{tag}"


def _content(program: Path) -> str:
    """Return the SHA-256 of a program; one of the store is not read for it."""
    folder = program.parent
    stored = Store(folder.parent.parent).find(folder.parent.name, folder.name)
    return stored.sha256 if stored and stored.path == program else digest(program)
