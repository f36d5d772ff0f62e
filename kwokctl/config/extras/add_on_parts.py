"""The further parts of an add-on's component, which users cannot describe: an identity, files, probes."""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from kwokctl.artifacts.module_parts import is_module_part, module_part
from kwokctl.config.patches.document_shapes import StrictShape
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
_READING = frozenset({"get", "list", "watch"})


class ReadinessShape(StrictShape):
    """A page that answers 200 when the component is ready."""

    port: str
    path: str = "/healthz"
    scheme: Literal["http", "https"] = "http"


class WebhooksShape(StrictShape):
    """The webhooks that a component serves: those of manifests that name one of the services."""

    port: str
    services: tuple[str, ...]


class FileShape(StrictShape):
    """A file that the component reads."""

    name: str
    content: str


class AddOnPartsShape(StrictShape):
    """The fields that a component of an add-on has in addition."""

    name: str
    groups: tuple[str, ...] = ()
    rules: tuple[dict[str, Json], ...] = ()
    cluster_roles: tuple[str, ...] = ()
    readiness: ReadinessShape | None = None
    webhooks: WebhooksShape | None = None
    files: tuple[FileShape, ...] = ()
    manifest_source: str = ""


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """A page that answers 200 when the component is ready."""

    port: str
    """The name of one of its ports."""
    path: str
    scheme: str


class Webhooks(msgspec.Struct, frozen=True, kw_only=True):
    """The webhooks that a component serves at a port."""

    port: str
    services: tuple[str, ...]
    """The services that name it in manifests."""


class AddOnParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a component that only add-ons have."""

    name: str
    """The add-on."""
    groups: tuple[str, ...] = ()
    """Groups of its user in the cluster."""
    rules: tuple[Mapping[str, Json], ...] = ()
    """Rights of its user, as in a ClusterRole."""
    cluster_roles: tuple[str, ...] = ()
    """ClusterRoles that its user is bound to."""
    readiness: Readiness | None = None
    webhooks: Webhooks | None = None
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Files that it reads, by name."""
    manifest_source: str = ""
    """Files of a Go module with objects that the cluster is to have before it starts."""

    @property
    def only_reads(self) -> bool:
        """Whether its rules are all the rights it has, and let it change nothing."""
        verbs = {verb for rule in self.rules for verb in rule.get("verbs", ())}
        return bool(verbs) and verbs <= _READING and not self.cluster_roles and not self.groups

    def to_document(self) -> dict[str, Json]:
        """Write it as a document has it."""
        parts: dict[str, Json] = {
            "groups": list(self.groups),
            "rules": list(self.rules),
            "clusterRoles": list(self.cluster_roles),
            "readiness": _readiness(self.readiness),
            "webhooks": _webhooks(self.webhooks),
            "files": [{"name": name, "content": text} for name, text in self.files.items()],
            "manifestSource": self.manifest_source,
        }
        return {"name": self.name, **{key: part for key, part in parts.items() if part}}


def add_on_parts(shape: AddOnPartsShape, ports: frozenset[str], place: str) -> AddOnParts:
    """Return the parts that a document describes; `ports` are the names of the component's ports.

    Raises ConfigError, naming the place, for a port that does not exist, and for an invalid name of a
    file or no part of a module.
    """
    for part, port in (("readiness", shape.readiness), ("webhooks", shape.webhooks)):
        if port and port.port not in ports:
            known = ", ".join(sorted(ports)) or "none"
            raise ConfigError(
                f"{place}: '{part}' has the port '{port.port}', which the component does not have",
                hint=f"its ports are: {known}",
            )
    for file in shape.files:
        if not _FILE.fullmatch(file.name):
            raise ConfigError(f"{place}: '{file.name}' cannot be the name of a file")
    if shape.manifest_source and not _is_files(shape.manifest_source):
        raise ConfigError(
            f"{place}: 'manifestSource' is '{shape.manifest_source}', which names no files of a Go "
            "module",
            hint="write go-files:MODULE@VERSION#GLOB,GLOB",
        )
    return AddOnParts(
        name=shape.name,
        groups=tuple(shape.groups),
        rules=tuple(shape.rules),
        cluster_roles=tuple(shape.cluster_roles),
        readiness=_page(shape.readiness) if shape.readiness else None,
        webhooks=_served(shape.webhooks) if shape.webhooks else None,
        files={file.name: file.content for file in shape.files},
        manifest_source=shape.manifest_source,
    )


def _page(shape: ReadinessShape) -> Readiness:
    return Readiness(port=shape.port, path=shape.path, scheme=shape.scheme)


def _served(shape: WebhooksShape) -> Webhooks:
    return Webhooks(port=shape.port, services=tuple(shape.services))


def _is_files(text: str) -> bool:
    try:
        return is_module_part(text) and module_part(text).is_files
    except ValueError:
        return False


def _readiness(value: Readiness | None) -> Json:
    return value and {"port": value.port, "path": value.path, "scheme": value.scheme}


def _webhooks(value: Webhooks | None) -> Json:
    return value and {"port": value.port, "services": list(value.services)}
