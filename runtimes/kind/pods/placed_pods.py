"""Manages the static pods that kubeadm does not make: their descriptions, and their images in the node.

Their form is that of https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from kwokctl.host.files import write_atomic
from kwokctl.json_value import Json
from kwokctl.model import Component, ComponentName, HttpProbe
from kwokctl.runtime import HOST
from runtimes.engine.engine_client import Container, Engine
from runtimes.engine.engine_images import EngineImages, image_of
from runtimes.engine.inside import Inside
from runtimes.engine.site import host_address
from runtimes.kind.pods.pod_settings import PodSettings, resources, sight, volumes

_CRITICAL = {"priorityClassName": "system-node-critical", "priority": 2000001000}
"""As the pods of kubeadm are: the kubelet ends others first when the node is short of something."""
_PROBED_EVERY = 5
"""Seconds."""


def static_pod(component: Component, *, image: str, settings: PodSettings) -> dict[str, object]:
    """Describe a component's pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": component.name,
            "namespace": "kube-system",
            "labels": {"component": component.name, "tier": "control-plane"},
        },
        "spec": {
            "containers": [_container(component, image)],
            "volumes": volumes(component, settings.root),
            "securityContext": {
                **_ids(component, settings),
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "hostNetwork": True,
            # The kernel lets the first process of a container ignore the signals that it sends
            # itself; so the pod's own comes first.
            "shareProcessNamespace": True,
            "restartPolicy": "Always" if settings.revive else "Never",
            "terminationGracePeriodSeconds": settings.patience,
            "automountServiceAccountToken": False,
            **_CRITICAL,
        },
    }


def knowing(pod: Mapping[str, Json], host: str) -> Mapping[str, Json]:
    """Return the pod with the host's name in its `hostAliases`, unless the host's address is unknown.

    It is known only once there is a node, and an engine may change it.
    """
    if not host:
        return pod
    return {**pod, "spec": {**pod["spec"], "hostAliases": [{"ip": host, "hostnames": [HOST]}]}}


def _container(component: Component, image: str) -> dict[str, object]:
    return {
        "name": component.name,
        "image": image,
        # It has been loaded into the node: it is never pulled.
        "imagePullPolicy": "Never",
        **_words(component),
        **sight(component),
        "ports": [{"name": port.name, "containerPort": port.port} for port in component.ports],
        "securityContext": {"allowPrivilegeEscalation": False, **_guard(component)},
        **_probe(component),
        **resources(component.limits),
    }


def _words(component: Component) -> dict[str, Json]:
    """Return what is run: for an image of the user's own what they or the image say."""
    command = [component.name, *component.artifact.command[1:]]  # on the PATH of all other images
    if component.own and component.artifact.image:
        command = list(component.own.entry)
    words = {"command": command, "args": list(component.args)}
    return {name: value for name, value in words.items() if value}


def _ids(component: Component, settings: PodSettings) -> dict[str, Json]:
    """Return as whom it runs; of an image of the user's own that says it itself nothing."""
    own = component.own
    if own and (own.user or component.artifact.image):
        given = zip(("runAsUser", "runAsGroup"), filter(None, own.user.split(":")), strict=False)
        return {name: int(number) for name, number in given}
    return {"runAsUser": settings.user, "runAsGroup": settings.group}


def _guard(component: Component) -> dict[str, Json]:
    """Take from a component what it does not need; of one of the user's own that is not known."""
    if component.own:
        return {}
    # It is a server that reads files of kwokctl, and needs no privileges of root.
    return {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def _probe(component: Component) -> dict[str, object]:
    """Let the kubelet ask for readiness as we do, where it can be asked without a certificate."""
    found = next((p for each in component.ready for p in _asked_inside(component, each)), None)
    if found is None:
        return {}
    return {"readinessProbe": {"httpGet": found, "periodSeconds": _PROBED_EVERY}}


def _asked_inside(component: Component, probe: HttpProbe) -> Iterator[dict[str, object]]:
    """Yield the probe as it is asked inside the node; nothing if it cannot be."""
    url = urlsplit(probe.url)
    if probe.cert or probe.socket:
        return
    for port in component.ports:
        if port.host_port == url.port:
            path = f"{url.path}?{url.query}" if url.query else url.path
            yield {"scheme": url.scheme.upper(), "path": path or "/", "port": port.port}


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
