"""Images of nodes in memory, with a machine that can make some or cannot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kwokctl.errors import ArtifactError, UnavailableError
from kwokctl.images import NodeImage
from kwokctl.model import Artifact
from tests.support.fake_images import FakeImages


@dataclass
class FakeNodeImages:
    """Knows images by their names, which end with a version of Kubernetes."""

    engine: FakeImages = field(default_factory=FakeImages)
    programs: tuple[str, ...] = ("kubeadm", "kubelet")
    can_make: bool = True
    made_of: list[Mapping[str, Artifact]] = field(default_factory=list)

    async def obtain(
        self,
        given: str,
        *,
        kube: str,
        may_pull: bool = True,
        came: Callable[[int], None] = lambda _: None,
    ) -> NodeImage:
        if not await self.engine.has(given):
            if not may_pull:
                raise ArtifactError(f"'{given}' is not here")
            await self.engine.pull(given, came=came)
        version = given.partition("@")[0].rpartition(":")[2].partition("-")[0]
        return NodeImage(name=given, kube=version)

    async def made(self, kube: str) -> str | None:
        name = f"made/node:{kube}-0"
        return name if name in self.engine.here else None

    def check(self) -> None:
        if not self.can_make:
            raise UnavailableError("only root can make it")

    async def make(
        self,
        programs: Mapping[str, Artifact],
        *,
        kube: str,
        folder: Path,
        say: Callable[[str], None],
    ) -> str:
        assert list(folder.iterdir()) == []
        self.made_of.append(programs)
        self.engine.here.add(f"made/node:{kube}-0")
        return f"made/node:{kube}-0"
