"""Stocks a container engine with the images that clusters start from, and carries them elsewhere."""

from collections.abc import Sequence
from pathlib import Path

from kwokctl import registry
from kwokctl.artifacts.images import IMAGE_PROGRAMS
from kwokctl.clusters.home import Home
from kwokctl.clusters.images import artifacts
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UnavailableError, UsageError
from kwokctl.runtime import Images, RunsImages, Runtime


async def stock_images(home: Home, options: ClusterOptions, save: Path | None) -> Sequence[str]:
    """Pull or make the images of a cluster's components, and write them to a file if there is one.

    `artifact_source` says which; return their names. Raises ArtifactError for one that is not to
    be had.
    """
    runtime, images = await _images(home, options.runtime)
    found = await artifacts(home, runtime, options, IMAGE_PROGRAMS)
    names = []
    for name, artifact in found.items():
        if not artifact.image and not await images.made(artifact):
            with home.progress.step(f"Making the image of {name} {artifact.version}"):
                await images.make(artifact)
        names.append(artifact.image or await images.make(artifact))
    if save:
        with home.progress.step(f"Saving {len(names)} images to '{save}'"):
            await images.save(names, save)
    return names


async def load_images(home: Home, options: ClusterOptions, file: Path) -> Sequence[str]:
    """Take the images of a file; return their names. Raises UsageError if it cannot be read."""
    _, images = await _images(home, options.runtime)
    try:
        file.open("rb").close()
    except OSError as e:
        raise UsageError(f"'{file}' cannot be read: {e.strerror}") from e
    with home.progress.step(f"Loading '{file}'"):
        return await images.load(file)


async def _images(home: Home, asked: str) -> tuple[Runtime, Images]:
    """Return the runtime that was asked for, else the first that starts images here."""
    missing: list[UnavailableError] = []
    for name in (asked,) if asked else registry.names():
        runtime = home.runtime(name)
        if not isinstance(runtime, RunsImages):
            continue
        try:
            await runtime.check()
        except UnavailableError as e:
            missing.append(e)
            continue
        return runtime, runtime.images
    if missing:
        raise missing[0]
    raise UsageError(
        f"the runtime '{asked}' starts no images" if asked else "no runtime starts images"
    )
