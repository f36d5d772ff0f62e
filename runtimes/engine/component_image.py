"""The image of a component: the one that it comes as, else one made from its program."""

from kwokctl.errors import ArtifactError
from kwokctl.model import Component
from runtimes.engine.images import EngineImages


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
            hint=f"docker pull {image}",
        )
    return image
