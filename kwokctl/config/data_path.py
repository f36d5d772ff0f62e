"""Names how fake kubelets and `scale` write: through the API server, or directly to etcd."""

from collections.abc import Mapping
from typing import Literal

import msgspec

Path = Literal["api", "etcd"]
_WAYS: Mapping[Path, str] = {"api": "through the API server", "etcd": "straight to etcd"}


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen data path, and the reason for it."""

    path: Path
    why: str
    """A phrase for people."""

    @property
    def way(self) -> str:
        """The way, and why, as a phrase."""
        return f"{_WAYS[self.path]} ({self.why})"

    def __str__(self) -> str:
        return f"writes: {self.way}"
