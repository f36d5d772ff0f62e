"""Reads top-level `components` of configuration documents.

A list that a person writes holds components beside kwokctl's own. One that a program wrote, the
original or kwokctl itself, says so by its `status`, and also repeats the components that kwokctl has.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from kwokctl.config import checks
from kwokctl.config.config_documents import Document
from kwokctl.config.extras.add_on_parts import AddOnPartsShape, add_on_parts
from kwokctl.config.extras.extra import ExtraComponent, ExtraMetrics
from kwokctl.config.given import whole_path
from kwokctl.config.patches.document_shapes import (
    EnvironmentShape,
    StrictShape,
    VolumeShape,
    envs_of,
    shaped,
    volume_of,
)
from kwokctl.errors import ConfigError, NotServedError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_RULE, is_label
from kwokctl.model import ComponentName, Port

FIELD = "components"
GIVEN = "given"
"""The field of a cluster's saved state that keeps a component as its user described it."""
_TAKEN = frozenset({"audit", "keeper"})
"""Names that kwokctl has for other logs and processes of a cluster."""
_HIGHEST = 65535
_VERSION = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.+-]{0,99})?")
"""Names a folder of the store, and the tag of an image."""


class PortShape(StrictShape):
    """A port."""

    port: int
    name: str = ""
    host_port: int = 0
    protocol: str = "TCP"


class MetricsShape(StrictShape):
    """The address of a component's metrics, or of the list of them."""

    scheme: str
    host: str
    path: str
    cert_path: str = ""
    key_path: str = ""
    insecure_skip_verify: bool = False


class ExtraComponentShape(StrictShape):
    """One component."""

    name: str
    links: tuple[str, ...] = ()
    binary: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    user: str = ""
    args: tuple[str, ...] = ()
    work_dir: str = ""
    ports: tuple[PortShape, ...] = ()
    envs: tuple[EnvironmentShape, ...] = ()
    volumes: tuple[VolumeShape, ...] = ()
    metric: MetricsShape | None = None
    metrics_discovery: MetricsShape | None = None
    manifest_contents: tuple[str, ...] = ()
    version: str = ""
    add_on: AddOnPartsShape | None = None


def extras_in(documents: Sequence[Document], known: Collection[str]) -> tuple[ExtraComponent, ...]:
    """Return the components of documents that are not among the `known` ones; a later one wins.

    Raises ConfigError, naming the place, for what cannot be a component, and for a known one in a
    list that no program wrote; NotServedError for what is not supported.
    """
    found: dict[str, ExtraComponent] = {}
    for document in documents:
        if not is_written(document):
            _refuse_known(document, known)
        entries = [each for each in _entries(document) if _name(each) not in known]
        found |= {each.name: each for each in read_extras(entries, document.source)}
    _check_links(found, known)
    return tuple(found.values())


def repeated(documents: Sequence[Document], known: Collection[str]) -> Iterator[str]:
    """Say, a line for each document, which known components it repeats: their description is replaced."""
    for document in filter(is_written, documents):
        if names := [name for each in _entries(document) if (name := _name(each)) in known]:
            yield (
                f"{document.source}: '{FIELD}' repeats {', '.join(names)}: kwokctl describes them "
                "itself, from 'options' and 'componentsPatches'"
            )


def is_written(document: Document) -> bool:
    """Return whether a program wrote a document as the state of a cluster."""
    return bool(document.body.get("status"))


def read_extras(entries: Sequence[Json], source: str) -> Iterator[ExtraComponent]:
    """Yield the components that items of the field describe."""
    described = [each.get(GIVEN, each) if isinstance(each, Mapping) else each for each in entries]
    for shape in shaped(described, ExtraComponentShape, FIELD, source):
        yield _extra(shape, f"{source}: {FIELD}: '{shape.name}'")


def _entries(document: Document) -> Sequence[Json]:
    value = document.body.get(FIELD) or []
    if not isinstance(value, list):
        raise document.fault(FIELD, "must be a list")
    return value


def _name(entry: Json) -> str:
    return str(entry.get("name")) if isinstance(entry, Mapping) else ""


def _refuse_known(document: Document, known: Collection[str]) -> None:
    for entry in _entries(document):
        if (name := _name(entry)) in known:
            raise NotServedError(
                f"{document.source}: '{FIELD}' describes '{name}', which kwokctl describes itself",
                hint="choose it with 'options.components', change it with 'componentsPatches'; "
                "another component needs another name",
            )


def _extra(shape: ExtraComponentShape, place: str) -> ExtraComponent:
    _check(shape, place)
    least = 0 if shape.add_on else 1  # a free one is chosen for 0
    ports = tuple(_port(each, number, place, least) for number, each in enumerate(shape.ports))
    names = frozenset(port.name for port in ports)
    return ExtraComponent(
        name=ComponentName(shape.name),
        version=shape.version,
        binary=whole_path(shape.binary),
        image=shape.image,
        command=tuple(shape.command),
        args=tuple(shape.args),
        user=shape.user,
        work_dir=shape.work_dir,
        links=frozenset(map(ComponentName, shape.links)),
        ports=ports,
        envs=envs_of(shape.envs),
        volumes=tuple(volume_of(each, place) for each in shape.volumes),
        manifests=tuple(_manifest(each, place) for each in shape.manifest_contents),
        metric=_metrics(shape.metric, f"{place}: 'metric'"),
        discovery=_metrics(shape.metrics_discovery, f"{place}: 'metricsDiscovery'"),
        add_on=add_on_parts(shape.add_on, names, place) if shape.add_on else None,
    )


def _check(shape: ExtraComponentShape, place: str) -> None:
    """Raise ConfigError and NotServedError for what is wrong with the whole of a component."""
    if not is_label(shape.name) or shape.name in _TAKEN:
        raise ConfigError(f"{place} cannot be the name of a component", hint=LABEL_RULE)
    if not (shape.binary or shape.image):
        raise ConfigError(f"{place} has neither a 'binary' nor an 'image'")
    for key, value, check in (
        ("binary", shape.binary, checks.program),
        ("image", shape.image, checks.image),
    ):
        if value and (fault := check(value)):
            raise ConfigError(f"{place}: '{key}' is '{value}', {fault.problem}", hint=fault.hint)
    if not _VERSION.fullmatch(shape.version):
        raise ConfigError(f"{place}: 'version' is '{shape.version}', which is not a version")
    if shape.work_dir and not shape.work_dir.startswith("/"):
        raise ConfigError(
            f"{place}: 'workDir' is '{shape.work_dir}', which is not an absolute path"
        )


def _port(shape: PortShape, number: int, place: str, least: int) -> Port:
    if shape.protocol != "TCP":
        raise NotServedError(f"{place}: a port of the protocol '{shape.protocol}' is not supported")
    for value, lowest in ((shape.port, least), (shape.host_port, 0)):
        if not lowest <= value <= _HIGHEST:
            raise ConfigError(f"{place}: {value} is not a port")
    name = shape.name or (f"port-{number}" if number else "port")
    return Port(name=name, port=shape.port, host_port=shape.host_port)


def _metrics(shape: MetricsShape | None, place: str) -> ExtraMetrics | None:
    if shape is None:
        return None
    is_plain = shape.scheme == "http"
    is_unverified = shape.scheme == "https" and shape.insecure_skip_verify
    if shape.cert_path or shape.key_path or not (is_plain or is_unverified):
        raise NotServedError(
            f"{place} is not supported as it is given",
            hint="Prometheus reads metrics by 'scheme: http', or by 'https' with "
            "'insecureSkipVerify: true', without a certificate of its own",
        )
    return ExtraMetrics(scheme=shape.scheme, host=shape.host, path=shape.path)


def _manifest(text: str, place: str) -> str:
    try:
        bodies = yaml.load_all(text)
    except ConfigError as e:
        raise ConfigError(f"{place}: 'manifestContents' is not valid YAML: {e}", hint=e.hint) from e
    for body in bodies:
        if body is not None and not _is_object(body):
            raise ConfigError(
                f"{place}: 'manifestContents' has an object without 'apiVersion', 'kind' or "
                "'metadata.name'"
            )
    return text


def _is_object(body: Json) -> bool:
    if not isinstance(body, Mapping) or not isinstance(body.get("metadata"), Mapping):
        return False
    return all((body.get("apiVersion"), body.get("kind"), body["metadata"].get("name")))


def _check_links(extras: Mapping[str, ExtraComponent], known: Collection[str]) -> None:
    """Raise ConfigError for links to components that do not exist, and for circles of links."""
    for extra in extras.values():
        if strange := sorted(extra.links - {*extras, *known}):
            raise ConfigError(
                f"'{FIELD}': '{extra.name}' has a link to '{strange[0]}', and there is no such "
                "component"
            )
    try:
        TopologicalSorter({each.name: each.links for each in extras.values()}).prepare()
    except CycleError as e:
        circle = " -> ".join(e.args[1])
        raise ConfigError(f"'{FIELD}': links form a cycle: {circle}") from e
