"""The pods that kubeadm does not make: described in the cluster's folder, with their images."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kwokctl.host.files import write_atomic
from kwokctl.model import Component, ComponentName
from runtimes.engine.client import Container, Engine
from runtimes.engine.component_image import image_of
from runtimes.engine.images import EngineImages
from runtimes.engine.inside import Inside
from runtimes.kind.images.node_images import bring
from runtimes.kind.pods.pod_settings import Manner
from runtimes.kind.pods.static_pod import static_pod


class PlacedPods:
    """One file a pod: what is in the folder is installed."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        """Keep the files in this folder, which the node sees, too."""
        self._engine = engine
        self._folder = folder

    def names(self) -> list[ComponentName]:
        """Name the components."""
        return [ComponentName(file.stem) for file in self._folder.glob("*.json")]

    async def describe(self, component: Component, manner: Manner) -> None:
        """Keep a component's pod, and have its image; one that runs stays as it is until it ends.

        Raises what `image_of` does.
        """
        image = await image_of(EngineImages(self._engine), component)
        pod = static_pod(component, image=image, manner=manner)
        write_atomic(self._file(component.name), json.dumps(pod, indent=1))

    async def brought(
        self, names: Collection[ComponentName], node: Container
    ) -> dict[ComponentName, Mapping[str, Any]]:
        """Return those of these components that are kept here; the node has their images."""
        inside = Inside(self._engine, node.id)
        found: dict[ComponentName, Mapping[str, Any]] = {}
        for name in sorted(set(names).intersection(self.names())):
            pod = json.loads(self._file(name).read_text(encoding="utf-8"))
            image = pod["spec"]["containers"][0]["image"]
            await bring(self._engine, inside, image, by=self._folder / f"{name}.tar")
            found[name] = pod
        return found

    def forget(self, name: ComponentName) -> None:
        """Keep a component's pod no longer."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: ComponentName) -> Path:
        return self._folder / f"{name}.json"
