"""Chooses the node image of a new cluster, for runtimes that make nodes, such as kind.

What is given is used. Otherwise an image that is here comes first, published or made, then the
published one from its registry, and then one that is made of programs.
"""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.artifacts.build_lock import in_turn
from kwokctl.artifacts.node_images import PublishedNode, published_node
from kwokctl.artifacts.resolve_programs import ArtifactSource, WantedProgram, resolve
from kwokctl.artifacts.versions import kube_version
from kwokctl.clusters.programs.needed import prefixes, programs, refuse_given, source_of, version_of
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ArtifactError, UnavailableError
from kwokctl.host.files import scratch_folder
from kwokctl.images import NodeImage, NodeImages
from kwokctl.model import ETCD, Artifact
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes


def usual_node(options: ClusterOptions, *, is_exact: bool = False) -> PublishedNode:
    """Return the published image for these options: the one that is used unless one is given.

    Of a version that its user has not chosen another patch release will do.
    """
    return published_node(
        options.tools.kind_version,
        options.kube_version,
        prefix=options.tools.kind_node_image_prefix,
        is_exact=is_exact,
    )


async def node_image(
    home: Home, images: NodeImages, options: ClusterOptions, *, is_exact: bool
) -> NodeImage:
    """Have the image for the nodes of a new cluster.

    Raises ArtifactError where it is not available, ConfigError where it holds another minor version of
    Kubernetes, UsageError for a file that does not exist.
    """
    search = _Search(
        home=home,
        images=images,
        options=options,
        published=usual_node(options, is_exact=is_exact),
        source=source_of(options.programs.source),
        kube=kube_version(options.kube_version),
    )
    return await search.run()


async def make_node_image(home: Home, images: NodeImages, options: ClusterOptions) -> str:
    """Make an image of a node from programs, which are got as others are, and return its name.

    Raises UnavailableError where that cannot be done on this machine.
    """
    kube = kube_version(options.kube_version)
    images.check()
    found = await resolve(
        parts(images, options),
        source=source_of(options.programs.source),
        cache=home.cache,
        progress=home.progress,
        prefixes=prefixes(options),
    )
    turn = in_turn(home.cache, f"node-{kube}", "making the image of a node", home.progress)
    async with turn as place:
        with (
            scratch_folder(place.folder / "image") as folder,
            home.progress.step(f"Making the image of a node with Kubernetes {kube}") as step,
        ):
            return await images.make(found, kube=kube, folder=folder, say=step.say)


def parts(images: NodeImages, options: ClusterOptions) -> list[WantedProgram]:
    """Return the programs that an image of a node is made of."""
    kube = kube_version(options.kube_version)
    etcd = version_of(options, ETCD)
    return [
        WantedProgram(name=name, version=etcd if name == ETCD else kube)
        for name in sorted(images.programs)
    ]


class _Search(msgspec.Struct, frozen=True, kw_only=True):
    """One search for an image."""

    home: Home
    images: NodeImages
    options: ClusterOptions
    published: PublishedNode
    source: ArtifactSource
    kube: str

    async def run(self) -> NodeImage:
        if given := self.options.tools.kind_node_image:
            return await self._obtained(given)
        published = self.published
        for name in dict.fromkeys((published.image, published.tag)):
            if await self.images.engine.has(name):
                return await self._published(name)
        if made := await self.images.made(self.kube):
            return await self._obtained(made)
        if self.source in {ArtifactSource.AUTO, ArtifactSource.DOWNLOAD}:
            try:
                return await self._published(published.image)
            except ArtifactError as e:
                self._go_on(e)
        if self.source is not ArtifactSource.OFFLINE:
            return await self._obtained(await make_node_image(self.home, self.images, self.options))
        raise ArtifactError(
            f"the engine has neither the node image '{published.image}' nor one that kwokctl has made",
            hint="load one with 'kwokctl artifacts images --runtime kind --load FILE', give a "
            "file with --kind-node-image, or leave out '--artifact-source offline'",
        )

    async def _published(self, name: str) -> NodeImage:
        if self.published.remark:
            self.home.progress.note(self.published.remark)
        return await self._obtained(name)

    async def _obtained(self, given: str) -> NodeImage:
        progress = Silent() if self.options.programs.quiet else self.home.progress
        with progress.step(f"Preparing the node image '{given}'", unit="B") as step:
            return await self.images.obtain(
                given,
                kube=self.kube,
                may_pull=self.source is not ArtifactSource.OFFLINE,
                came=step.advance,
            )

    def _go_on(self, error: ArtifactError) -> None:
        """Return if an image can be made in place of one that was not pulled, else raise."""
        if self.source is ArtifactSource.DOWNLOAD:
            raise error
        try:
            self.images.check()
        except UnavailableError as missing:
            error.hint = f"{error.hint} ({missing})"
            raise error from missing
        self.home.progress.note(f"{error}: making one from programs instead")


async def with_brought(
    home: Home,
    runtime: BringsKubernetes,
    options: ClusterOptions,
    names: Sequence[str],
    *,
    settled: Mapping[str, Artifact] | None,
    is_exact: bool,
) -> dict[str, Artifact]:
    """Get the named programs as far as the runtime does not bring them, and what it runs itself.

    The image of the nodes comes first: without it there is no use for the programs, which may take
    minutes to build. A cluster that is `settled` has its nodes, or knows what they were made of.
    """
    refuse_given(runtime, options, names)
    brought = [name for name in names if name in runtime.brings]
    if settled is None:
        image = await node_image(home, runtime.node_images, options, is_exact=is_exact)
        named, kube = image.name, image.kube
    else:
        named, kube = options.tools.kind_node_image or usual_node(options).image, ""
    found = await programs(
        home, options, [runtime.maker, *(name for name in names if name not in brought)]
    )
    for name in brought:
        version = version_of(options, name) if name == ETCD or not kube else kube
        found[name] = (settled or {}).get(name) or Artifact(name=name, version=version)
    found[runtime.maker] = replace(found[runtime.maker], image=named)
    return found
