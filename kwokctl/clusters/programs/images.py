"""Chooses the form of components: images if the runtime starts those, else programs.

What is given is used. Otherwise an image that the runtime has comes first, then the published one,
and then one that the runtime makes from the program, which it is given for that.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from kwokctl.artifacts.programs import named
from kwokctl.artifacts.published_images import IMAGE_PROGRAMS, published, registry_of
from kwokctl.artifacts.resolve_programs import ArtifactSource, stored
from kwokctl.clusters.programs.needed import (
    addresses,
    given_image,
    given_program,
    image_prefixes,
    prefixes,
    programs,
    source_of,
    version_of,
    wanted_program,
)
from kwokctl.clusters.programs.node_image import usual_node, with_brought
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ArtifactError
from kwokctl.images import Images
from kwokctl.model import Artifact
from kwokctl.progress import Progress, Silent
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime

Settled = Mapping[str, Artifact]
"""The artifacts that a cluster was made with."""


class ImageChoice(msgspec.Struct, frozen=True, kw_only=True):
    """An image that a component may come as."""

    name: str
    version: str
    image: str
    is_given: bool
    """Whether its user named it, or its registry: then nothing replaces it."""

    @property
    def artifact(self) -> Artifact:
        return Artifact(name=self.name, version=self.version, image=self.image)


async def artifacts(
    home: Home,
    runtime: Runtime,
    options: ClusterOptions,
    names: Sequence[str],
    settled: Settled | None = None,
    *,
    is_exact: bool = False,
) -> dict[str, Artifact]:
    """Find, pull, fetch or build what is named, in the form that the runtime can start.

    What a cluster is `settled` with is used for as long as it is there. The version of Kubernetes
    `is_exact` if its user chose it. Raises ArtifactError for what is not available.
    """
    found: dict[str, Artifact] = {}
    if isinstance(runtime, RunsImages):
        choices = list(image_choices(options, names))
        found = await _as_images(home, runtime.images, options, choices, settled or {})
    elif isinstance(runtime, BringsKubernetes):
        choices = [
            each for each in image_choices(options, names) if _is_own(runtime, options, each)
        ]
        engine = runtime.node_images.engine
        found = await _as_images(home, engine, options, choices, settled or {})
    if given := [n for n in names if n not in found and _is_image_alone(options, n)]:
        home.progress.warn(
            f"the runtime '{runtime.name}' runs programs: the images given for "
            f"{', '.join(given)} are not used"
        )
    rest = [name for name in names if name not in found]
    if isinstance(runtime, BringsKubernetes):
        return found | await with_brought(
            home, runtime, options, rest, settled=settled, is_exact=is_exact
        )
    return found | await programs(home, options, rest)


def _is_image_alone(options: ClusterOptions, name: str) -> bool:
    """Return whether an image was given for a component, and no program, as add-ons give it, too."""
    return bool(given_image(options, name)) and not given_program(options, name)


def _is_own(runtime: BringsKubernetes, options: ClusterOptions, choice: ImageChoice) -> bool:
    """Return whether an image was given for a component that does not come with the runtime."""
    return choice.name not in runtime.brings and bool(given_image(options, choice.name))


def published_files(
    runtime: Runtime | None, options: ClusterOptions, names: Sequence[str]
) -> list[str]:
    """List the addresses of what a cluster of the named components needs, images apart."""
    if runtime is not None and isinstance(runtime, BringsKubernetes):
        needed = [runtime.maker, *(name for name in names if name not in runtime.brings)]
        return addresses(options, needed)
    images = {choice.name for choice in _published(runtime, options, names)}
    return addresses(options, [name for name in names if name not in images])


def published_images(
    runtime: Runtime | None,
    options: ClusterOptions,
    names: Sequence[str],
    *,
    is_exact: bool = False,
) -> list[str]:
    """List the images that a cluster of the named components needs."""
    if runtime is not None and isinstance(runtime, BringsKubernetes):
        image = options.tools.kind_node_image or usual_node(options, is_exact=is_exact).image
        return [] if Path(image).is_file() else [image]
    return sorted(choice.image for choice in _published(runtime, options, names))


def _published(
    runtime: Runtime | None, options: ClusterOptions, names: Sequence[str]
) -> list[ImageChoice]:
    if runtime is None or not isinstance(runtime, RunsImages):
        return []
    return list(image_choices(options, names))


def image_choices(options: ClusterOptions, names: Sequence[str]) -> Iterator[ImageChoice]:
    """Yield the images of those components that are not given as programs."""
    source = source_of(options.programs.source)
    for name in names:
        version = version_of(options, name)
        if image := given_image(options, name):
            yield ImageChoice(name=name, version=version, image=image, is_given=True)
        elif name in IMAGE_PROGRAMS:
            group = named(name).group.name
            prefix = image_prefixes(options)[group]
            is_program = given_program(options, name) or prefixes(options)[group]
            if prefix or not (is_program or source is ArtifactSource.BUILD):
                image = published(name, version, prefix)
                yield ImageChoice(name=name, version=version, image=image, is_given=bool(prefix))


async def _as_images(
    home: Home,
    images: Images,
    options: ClusterOptions,
    choices: Sequence[ImageChoice],
    settled: Settled,
) -> dict[str, Artifact]:
    """Return what comes as an image; what is left out has to come as a program."""
    source = source_of(options.programs.source)
    at_hand = await asyncio.gather(
        *(_at_hand(home, images, options, choice, settled) for choice in choices)
    )
    found = {name: artifact for one in at_hand for name, artifact in one.items()}
    missing = [choice for choice in choices if choice.name not in found]
    if source is ArtifactSource.OFFLINE:
        if lost := [choice.image for choice in missing if choice.is_given]:
            raise ArtifactError(
                f"the engine does not have the image '{lost[0]}'",
                hint=f"{images.tool} pull {lost[0]}; or leave out '--artifact-source offline'",
            )
        missing = []
    if missing:
        progress = Silent() if options.programs.quiet else home.progress
        troubles = await _pull(images, missing, progress)
        for choice in missing:
            error = troubles.get(choice.name)
            if error and (choice.is_given or source is ArtifactSource.DOWNLOAD):
                raise error
            if not error:
                found[choice.name] = choice.artifact
        if troubles:
            first, others = next(iter(troubles.values())), len(troubles) - 1
            also = f" (and {others} others)" if others > 1 else " (and 1 other)" if others else ""
            home.progress.note(f"{first}{also}; made from programs instead")
    return {name: artifact for name, artifact in found.items() if artifact.image}


async def _at_hand(
    home: Home, images: Images, options: ClusterOptions, choice: ImageChoice, settled: Settled
) -> dict[str, Artifact]:
    """Return the form in which a component is here already; nothing if it is in none."""
    before = settled.get(choice.name)
    if before and (not before.image or await images.has(before.image)):
        return {choice.name: before}
    if await images.has(choice.image):
        return {choice.name: choice.artifact}
    if choice.is_given:
        return {}
    wanted = wanted_program(options, choice.name)
    program = (await stored([wanted], cache=home.cache, prefixes=prefixes(options))).get(
        choice.name
    )
    if program:
        return {choice.name: program} if await images.made(program) else {}
    unknown = Artifact(name=choice.name, version=choice.version)
    image = await images.made(unknown)
    return {choice.name: replace(unknown, image=image)} if image else {}


async def _pull(
    images: Images, choices: Sequence[ImageChoice], progress: Progress
) -> dict[str, ArtifactError]:
    """Pull images at once; return why those that failed did, by component."""
    troubles: dict[str, ArtifactError] = {}
    with suppress(ArtifactError):
        await _pull_together(images, choices, progress, troubles)
    return troubles


async def _pull_together(
    images: Images,
    choices: Sequence[ImageChoice],
    progress: Progress,
    troubles: dict[str, ArtifactError],
) -> None:
    hosts = " and ".join(dict.fromkeys(registry_of(choice.image) for choice in choices))
    names = ", ".join(choice.name for choice in choices)
    with progress.step(f"Pulling {names} from {hosts}", unit="B") as step:

        async def pull(choice: ImageChoice) -> None:
            try:
                await images.pull(choice.image, came=step.advance)
            except ArtifactError as e:
                troubles[choice.name] = e

        async with asyncio.TaskGroup() as tasks:
            for choice in choices:
                tasks.create_task(pull(choice))
        # The step ends as one that failed.
        for trouble in troubles.values():
            raise trouble
