"""The operations of runtimes on container images: an engine's own images, and those of nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from kwokctl.model import Artifact


class Images(Protocol):
    """The container images that a runtime can start components from.

    An image is named as engines name it: `registry.k8s.io/etcd:3.6.16-0`.
    """

    @property
    def tool(self) -> str:
        """The command with which people and scripts handle them, such as `docker`."""
        ...

    async def has(self, image: str) -> bool:
        """Return whether an image is here."""
        ...

    async def pull(self, image: str, *, came: Callable[[int], None]) -> None:
        """Fetch an image from its registry; `came` is called with the number of bytes as they come.

        Raises ArtifactError when the registry does not answer, or does not give it.
        """
        ...

    async def made(self, artifact: Artifact) -> str | None:
        """Return the image that was made from a program, if it is here.

        Of an artifact without a command it is one that was made from its name and version.
        """
        ...

    async def make(self, artifact: Artifact) -> str:
        """Make an image of a program, unless it is here already, and return its name."""
        ...

    async def save(self, images: Sequence[str], file: Path) -> None:
        """Write images to a file that `load`, here or elsewhere, reads."""
        ...

    async def load(self, file: Path) -> Sequence[str]:
        """Take the images that a file holds, and return their names."""
        ...


class NodeImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a node that is on this machine."""

    name: str
    kube: str
    """The version of Kubernetes in it."""


class NodeImages(Protocol):
    """The images of nodes with Kubernetes in them."""

    @property
    def engine(self) -> Images:
        """The images on this machine, including those of nodes."""
        ...

    @property
    def programs(self) -> Collection[str]:
        """The programs that an image is made of."""
        ...

    async def obtain(
        self,
        given: str,
        *,
        kube: str,
        may_pull: bool = True,
        came: Callable[[int], None] = lambda _: None,
    ) -> NodeImage:
        """Pull or load the image of this name or file; `came` is called with the bytes as they come.

        An image that is not here is pulled if it `may_pull`. Raises ArtifactError where it is not
        available or is no image of a node, ConfigError where it holds another minor version of
        Kubernetes than `kube`.
        """
        ...

    async def made(self, kube: str) -> str | None:
        """Return an image that was made here or elsewhere of this version of Kubernetes."""
        ...

    def check(self) -> None:
        """Raise UnavailableError, with a remedy, unless images can be made on this machine."""
        ...

    async def make(
        self,
        programs: Mapping[str, Artifact],
        *,
        kube: str,
        folder: Path,
        say: Callable[[str], None],
    ) -> str:
        """Make an image of these programs, unless it is here already, and return its name.

        `folder` is empty and may be used; `say` is called with the current activity.
        """
        ...
