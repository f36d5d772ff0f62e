"""Manages the pods that kubeadm does not make: their descriptions, and their images in the node."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from kwokctl.host.files import write_atomic
from kwokctl.model import Component, ComponentName
from runtimes.engine.client import Container, Engine
from runtimes.engine.images import EngineImages, image_of
from runtimes.engine.inside import Inside
from runtimes.engine.site import host_address
from runtimes.kind.pods.pod_settings import PodSettings
from runtimes.kind.pods.static_pod import knowing, static_pod

_BROUGHT = "/var/lib/kwokctl/images"
"""A folder in the node with a file for each image that was loaded; it is deleted with the node."""
# Unpacked by their first use, with the snapshotter of the node's own configuration.
_TAKE = """\
ctr --namespace=k8s.io images import --no-unpack "$1" && mkdir -p "$2" && touch "$2/$3"
"""
_HAS = 'if [ -e "$1/$2" ]; then echo yes; fi'


class PlacedPods:
    """One file a pod: what is in the folder is installed."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        """Keep the files in this folder, which the node sees, too."""
        self._engine = engine
        self._folder = folder

    def names(self) -> list[ComponentName]:
        """Name the components."""
        return [ComponentName(file.stem) for file in self._folder.glob("*.json")]

    async def describe(self, component: Component, settings: PodSettings) -> None:
        """Keep a component's pod, and have its image; one that runs stays as it is until it ends.

        Raises what `image_of` does.
        """
        image = await image_of(EngineImages(self._engine), component)
        pod = static_pod(component, image=image, settings=settings)
        write_atomic(self._file(component.name), json.dumps(pod, indent=1))

    async def brought(
        self, names: Collection[ComponentName], node: Container
    ) -> dict[ComponentName, Mapping[str, object]]:
        """Return those of these components that are kept here; the node has their images."""
        inside = Inside(self._engine, node.id)
        host = await host_address(self._engine, await self._engine.gateway(node.id))
        found: dict[ComponentName, Mapping[str, object]] = {}
        for name in sorted(set(names).intersection(self.names())):
            pod = json.loads(self._file(name).read_text(encoding="utf-8"))
            image = pod["spec"]["containers"][0]["image"]
            await bring(self._engine, inside, image, by=self._folder / f"{name}.tar")
            found[name] = knowing(pod, host)
        return found

    def forget(self, name: ComponentName) -> None:
        """Keep a component's pod no longer."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: ComponentName) -> Path:
        return self._folder / f"{name}.json"


async def bring(engine: Engine, inside: Inside, image: str, *, by: Path) -> None:
    """Load an image of the engine into the node, unless the node has it.

    `by` is where a file may lie meanwhile that the node sees at the same place.
    """
    inspected = await engine.ask("inspect_image", image)
    mark = sha256(f"{image} {inspected['Id']}".encode()).hexdigest()
    if await inside.run("sh", "-c", _HAS, "sh", _BROUGHT, mark):
        return
    with _for_a_while(by):
        await EngineImages(engine).save([image], by)
        await inside.run("sh", "-c", _TAKE, "sh", str(by), _BROUGHT, mark)


@contextmanager
def _for_a_while(file: Path) -> Iterator[None]:
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
