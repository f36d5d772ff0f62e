"""Stocks a container engine with the images that clusters start from, and carries them elsewhere."""

from collections.abc import Sequence
from pathlib import Path

from kwokctl import registry
from kwokctl.artifacts.programs import ON_REQUEST
from kwokctl.artifacts.published_images import IMAGE_PROGRAMS
from kwokctl.artifacts.resolve_programs import ArtifactSource
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.programs.needed import source_of
from kwokctl.clusters.programs.node_image import make_node_image, node_image
from kwokctl.clusters.state.home import Home
from kwokctl.components.catalog import requested
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UnavailableError, UsageError
from kwokctl.images import Images, NodeImages
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime


async def stock_images(
    home: Home, options: ClusterOptions, save: Path | None, *, is_exact: bool = False
) -> Sequence[str]:
    """Pull or make the images of a cluster's components, and write them to a file if there is one.

    Of a runtime that brings them it is the image of the nodes. `artifact_source` says which; the
    version of Kubernetes `is_exact` if its user chose it. Return the names. Raises ArtifactError for
    one that is not available.
    """
    runtime, images = await _images(home, options.runtime)
    if isinstance(runtime, BringsKubernetes):
        names = [await _node(home, runtime.node_images, options, is_exact=is_exact)]
    else:
        names = await _components(home, runtime, images, options)
    if save:
        with home.progress.step(f"Saving {_count(len(names))} to '{save}'"):
            await images.save(names, save)
    return names


async def _components(
    home: Home, runtime: Runtime, images: Images, options: ClusterOptions
) -> list[str]:
    left_out = ON_REQUEST - set(requested(options))
    shipped = [name for name in IMAGE_PROGRAMS if name not in left_out]
    described = [each.name for each in options.extras if each.image]
    found = await artifacts(home, runtime, options, [*shipped, *described])
    names = []
    for name, artifact in found.items():
        if not artifact.image and not await images.made(artifact):
            with home.progress.step(f"Making the image of {name} {artifact.version}"):
                await images.make(artifact)
        names.append(artifact.image or await images.make(artifact))
    return names


async def _node(home: Home, images: NodeImages, options: ClusterOptions, *, is_exact: bool) -> str:
    if source_of(options.programs.source) is ArtifactSource.BUILD:
        return await make_node_image(home, images, options)
    found = await node_image(home, images, options, is_exact=is_exact)
    # A file keeps the tag of an image, not its digest.
    tag = found.name.partition("@")[0]
    return tag if await images.engine.has(tag) else found.name


async def load_images(home: Home, options: ClusterOptions, file: Path) -> Sequence[str]:
    """Take the images of a file; return their names. Raises UsageError if it cannot be read."""
    _, images = await _images(home, options.runtime)
    try:
        file.open("rb").close()
    except OSError as e:
        raise UsageError(f"'{file}' cannot be read: {e.strerror}") from e
    with home.progress.step(f"Loading '{file}'"):
        return await images.load(file)


def _count(images: int) -> str:
    return "1 image" if images == 1 else f"{images} images"


async def _images(home: Home, asked: str) -> tuple[Runtime, Images]:
    """Return the runtime that was requested, else the first that starts images here."""
    missing: list[UnavailableError] = []
    for name in (asked,) if asked else registry.names():
        runtime = home.runtime(name)
        if isinstance(runtime, RunsImages):
            images = runtime.images
        elif asked and isinstance(runtime, BringsKubernetes):
            images = runtime.node_images.engine
        else:
            continue
        try:
            await runtime.check()
        except UnavailableError as e:
            missing.append(e)
            continue
        return runtime, images
    if missing:
        raise missing[0]
    raise UsageError(f"the runtime '{asked}' uses no images" if asked else "no runtime uses images")
