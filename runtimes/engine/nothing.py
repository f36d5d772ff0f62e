"""Stands in for an engine that does not answer, where a plan is made and nothing is done: it has nothing yet."""

from collections.abc import Mapping, Sequence

from kwokctl.errors import NotFoundError
from kwokctl.json_value import Json


class NoSdk:
    """Answers what a plan asks of the SDK; a call that would change something raises AttributeError."""

    def __init__(self, *, is_podman: bool, is_rootless: bool) -> None:
        self.is_podman = is_podman
        self._is_rootless = is_rootless

    def info(self) -> Mapping[str, Json]:
        """Return what an engine says of itself."""
        return {"Rootless": self._is_rootless}

    def containers(self, **_: object) -> Sequence[Json]:
        """List no containers."""
        return ()

    def networks(self, **_: object) -> Sequence[Json]:
        """List no networks."""
        return ()

    def images(self, **_: object) -> Sequence[Json]:
        """List no images."""
        return ()

    def inspect_image(self, image: str) -> Mapping[str, Json]:
        """Find no image."""
        raise NotFoundError(f"there is no image '{image}'")
