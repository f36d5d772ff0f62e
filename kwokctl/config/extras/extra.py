"""A component that a user describes, as a value."""

from collections.abc import Mapping

import msgspec

from kwokctl.config.extras.add_on_parts import AddOnParts
from kwokctl.config.patches.patch import Volume
from kwokctl.json_value import Json
from kwokctl.model import KUBE_APISERVER, ComponentName, Port


class ExtraMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """The address of an extra component's metrics in the Prometheus text format."""

    scheme: str
    host: str
    """`HOST:PORT`, as Prometheus dials it."""
    path: str

    def to_document(self) -> dict[str, Json]:
        """Write it as a document has it."""
        unverified = {"insecureSkipVerify": True} if self.scheme == "https" else {}
        return {"scheme": self.scheme, "host": self.host, "path": self.path, **unverified}


class ExtraComponent(msgspec.Struct, frozen=True, kw_only=True):
    """A component beside kwokctl's own; of `binary` and `image` a runtime takes what it can start."""

    name: ComponentName
    version: str = ""
    binary: str = ""
    """A path, a URL, URL#MEMBER or a part of a Go module."""
    image: str = ""
    command: tuple[str, ...] = ()
    """The command of the image in place of its entry point."""
    args: tuple[str, ...] = ()
    user: str = ""
    """Of a container: `USER`, `UID` or `UID:GID`; empty for the image's own."""
    work_dir: str = ""
    """The folder it works in; empty for the usual one."""
    links: frozenset[ComponentName] = frozenset()
    """The components that it needs: it is started after them, and stopped before them."""
    ports: tuple[Port, ...] = ()
    envs: Mapping[str, str] = msgspec.field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()
    manifests: tuple[str, ...] = ()
    """Objects that the cluster is to have before it starts, as YAML."""
    metric: ExtraMetrics | None = None
    discovery: ExtraMetrics | None = None
    """The address of a list of further pages of metrics."""
    add_on: AddOnParts | None = None
    """Given for one of an add-on."""

    @property
    def may_change_objects(self) -> bool:
        """Whether it may answer a change of an object with others: a client of the API server may."""
        if self.add_on is None:
            return KUBE_APISERVER in self.links or bool(self.manifests)
        return not self.add_on.only_reads

    @property
    def may_serve_webhooks(self) -> bool:
        """Whether the API server may need it to accept an object."""
        return bool(self.add_on.webhooks if self.add_on else self.ports)

    def to_document(self) -> dict[str, Json]:
        """Write it as a document has it."""
        parts: dict[str, Json] = {
            "version": self.version,
            "binary": self.binary,
            "image": self.image,
            "command": list(self.command),
            "args": list(self.args),
            "user": self.user,
            "workDir": self.work_dir,
            "links": sorted(self.links),
            "ports": [_port(port) for port in self.ports],
            "envs": [{"name": name, "value": value} for name, value in self.envs.items()],
            "volumes": [volume.to_document() for volume in self.volumes],
            "manifestContents": list(self.manifests),
            "metric": self.metric and self.metric.to_document(),
            "metricsDiscovery": self.discovery and self.discovery.to_document(),
            "addOn": self.add_on and self.add_on.to_document(),
        }
        return {"name": self.name, **{key: part for key, part in parts.items() if part}}


MANIFESTS = ".manifests"
"""Ends the name of the manifests of a component, among programs."""


def _port(port: Port) -> dict[str, Json]:
    return {
        **({"name": port.name} if port.name else {}),
        "port": port.port,
        **({"hostPort": port.host_port} if port.host_port else {}),
    }
