"""Container images in memory, and a registry that returns the configured ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kwokctl.errors import ArtifactError
from kwokctl.model import Artifact


@dataclass
class FakeImages:
    """Keeps names of images, and what was asked of the registry."""

    here: set[str] = field(default_factory=set)
    registry: set[str] = field(default_factory=set)
    pulled: list[str] = field(default_factory=list)
    tool: str = "docker"

    async def has(self, image: str) -> bool:
        return image in self.here

    async def pull(self, image: str, *, came: Callable[[int], None]) -> None:
        self.pulled.append(image)
        if image not in self.registry:
            raise ArtifactError(f"'{image}' cannot be pulled")
        came(1000)
        self.here.add(image)

    async def made(self, artifact: Artifact) -> str | None:
        if artifact.command:
            return self._name(artifact) if self._name(artifact) in self.here else None
        beginning = f"made/{artifact.name}:{artifact.version}-"
        return next((image for image in self.here if image.startswith(beginning)), None)

    async def make(self, artifact: Artifact) -> str:
        self.here.add(self._name(artifact))
        return self._name(artifact)

    async def save(self, images: Sequence[str], file: Path) -> None:
        file.write_text("\n".join(images))

    async def load(self, file: Path) -> Sequence[str]:
        names = file.read_text().split()
        self.here.update(names)
        return names

    @staticmethod
    def _name(artifact: Artifact) -> str:
        return f"made/{artifact.name}:{artifact.version}-{Path(artifact.command[0]).stat().st_ino}"
