"""Finds out that a cluster was deleted while it is followed."""

import asyncio
from pathlib import Path

_EVERY = 1.0


class Deletion:
    """Waits for the deletion of one cluster of kwokctl; another that has its name since then is not taken for it."""

    def __init__(self, kubeconfig: Path) -> None:
        """Know the cluster, which exists, by its own kubeconfig: the token in it is of this cluster only."""
        self._kubeconfig = kubeconfig
        self._known = _content(kubeconfig)

    async def wait(self) -> None:
        """Return when the cluster exists no longer."""
        while self._known and await asyncio.to_thread(_content, self._kubeconfig) == self._known:  # noqa: ASYNC110 - another process deletes it
            await asyncio.sleep(_EVERY)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
