"""Reads documents of kind Load, and says where one is wrong."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.objects.manifests import objects_of
from kwokctl.config.config_documents import STDIN, Document, documents_in, load_documents
from kwokctl.config.document_kinds import LOAD
from kwokctl.errors import ConfigError, ExpressionError, NotFoundError
from kwokctl.expr.gotemplate import template
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_RULE, is_label
from kwokctl.load.description.acts_schema import BundleShape
from kwokctl.load.description.bundles import (
    CopiedObjects,
    ObjectSource,
    RecordedObjects,
    TemplatedObjects,
)
from kwokctl.load.description.schema import LoadShape, LoadSpec, Param
from kwokctl.load.description.traces import TraceRow, read_trace
from kwokctl.progress import Progress, Silent

LoadSource = str | Mapping[str, Json]
"""A file of loads, or one document of kind Load that a program has made."""
_SWITCHES = frozenset({"true", "false"})


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """One load, read and checked."""

    name: str
    spec: LoadSpec
    document: Document
    """The place it was read from, for messages."""
    sources: tuple[ObjectSource, ...] = ()
    """The sources of the objects that it creates; one is chosen by the weights of `spec.create`."""
    trace: tuple[TraceRow, ...] = ()
    """Its arrivals, if they come from a file."""

    @property
    def phase(self) -> str:
        """The name under which figures show it."""
        return self.spec.phase or self.name


def read_loads(
    sources: Sequence[LoadSource], *, progress: Progress | None = None
) -> tuple[Load, ...]:
    """Read the loads of files, and those that a program has made; the file `-` is standard input.

    Files that a program's document names are looked for in the current folder.

    Raises ConfigError, with file, document and field, for one that is wrong, and for files without any.
    """
    loads = tuple(_read(sources, progress or Silent()))
    if not loads:
        raise ConfigError(
            f"there is no document of kind '{LOAD}' in '{', '.join(map(_named, sources))}'",
            hint="its fields are in the schema that this prints: kwokctl config schema",
        )
    _check_names(loads)
    return loads


def _named(source: LoadSource) -> str:
    return source if isinstance(source, str) else "a document of the program"


def _read(sources: Sequence[LoadSource], progress: Progress) -> Iterator[Load]:
    for number, path in enumerate(sources, start=1):
        if isinstance(path, Mapping):
            yield from _of_program(path, f"load {number} of the program")
            continue
        folder = Path() if path == STDIN else Path(path).parent
        for document in load_documents([path], progress=progress):
            if document.kind == LOAD:
                _check_hooks(document, path)
                yield read_load(document, folder)


def _of_program(body: Mapping[str, Json], place: str) -> Iterator[Load]:
    """Yield a load that is no file; its commands are those of the program itself, and need no check."""
    for document in documents_in(dict(body), place):
        if document.kind != LOAD:
            raise document.fault("kind", f"is '{document.kind}', not '{LOAD}'")
        yield read_load(document, Path())


def _check_hooks(document: Document, path: str) -> None:
    """Raise ConfigError for commands from where another user may have written them."""
    spec = document.body.get("spec")
    if not isinstance(spec, dict) or "hooks" not in spec:
        return
    if path == STDIN:
        raise document.fault("spec.hooks", "runs commands, which are taken from a file only")
    found = Path(path).stat()
    if found.st_uid not in (0, os.geteuid()):
        raise document.fault(
            "spec.hooks",
            f"runs commands, and '{path}' belongs to another user",
            hint="read it, and make a copy of it that is yours",
        )
    if found.st_mode & stat.S_IWOTH:
        raise document.fault(
            "spec.hooks",
            f"runs commands, and every user may write '{path}'",
            hint=f"take that right away: chmod o-w {path}",
        )


def read_load(document: Document, folder: Path) -> Load:
    """Read one document; files that it names are below `folder`. Errors as `read_loads`."""
    try:
        spec = msgspec.convert(document.body, LoadShape).spec
    except msgspec.ValidationError as e:
        raise _of_param(document) or document.misshapen(e) from e
    if not is_label(document.name):
        raise document.fault("metadata.name", "cannot be the name of a load", hint=LABEL_RULE)
    for name in _SWITCHES & spec.params.keys():
        raise document.fault(
            "spec.params",
            f"has the name '{name}': YAML reads 'n', 'y', 'no', 'yes', 'off' and 'on' as switches",
            hint="write the name in quotation marks, or choose a longer one",
        )
    for place, namespace in _namespaces(spec):
        if not is_label(namespace):
            raise document.fault(place, "cannot be the name of a namespace", hint=LABEL_RULE)
    _check_templates(document, spec)
    trace = _trace(document, spec, folder)
    return Load(
        name=document.name,
        spec=spec,
        document=document,
        sources=tuple(_sources(document, spec, folder)) or _recorded(document, spec, trace),
        trace=trace,
    )


def _of_param(document: Document) -> ConfigError | None:
    """Return the error about a parameter, with its name; None if all are right."""
    spec = document.body.get("spec")
    params = spec.get("params") if isinstance(spec, dict) else None
    for name, value in params.items() if isinstance(params, dict) else ():
        try:
            msgspec.convert(value, Param)
        except msgspec.ValidationError as e:
            return document.misshapen(e, within=f"spec.params.{name}")
    return None


def _namespaces(spec: LoadSpec) -> Iterator[tuple[str, str]]:
    """Yield the namespaces that a load names, and where; empty ones mean all, but for that of objects."""
    yield "spec.namespace", spec.namespace
    if spec.wait_for is not None and spec.wait_for.namespace:
        yield "spec.waitFor.namespace", spec.wait_for.namespace
    shape = getattr(spec, spec.act)
    if spec.act != "create" and shape.target.namespace:
        yield f"spec.{spec.act}.target.namespace", shape.target.namespace


def _check_templates(document: Document, spec: LoadSpec) -> None:
    for place, text in _templates(spec):
        try:
            template.compile(text, name=place)
        except ExpressionError as e:
            raise document.fault(place, f"is no template: {e}", hint=e.hint) from e


def _templates(spec: LoadSpec) -> Iterator[tuple[str, str]]:
    """Yield the templates of a load, and where they are."""
    for number, each in enumerate(spec.create or ()):
        if each.template is not None:
            yield f"spec.create[{number}].template", each.template
    for act in ("patch", "scale", "delete"):
        shape = getattr(spec, act)
        if shape is not None and shape.target.name:
            yield f"spec.{act}.target.name", shape.target.name
    if spec.patch is not None:
        yield "spec.patch.patch", spec.patch.patch
    if spec.scale is not None and isinstance(spec.scale.replicas, str):
        yield "spec.scale.replicas", spec.scale.replicas


def _sources(document: Document, spec: LoadSpec, folder: Path) -> Iterable[ObjectSource]:
    for number, each in enumerate(spec.create or ()):
        place = f"spec.create[{number}]"
        if each.template is not None:
            yield TemplatedObjects(each.template, f"{place}.template")
        else:
            yield _copies(document, each, folder, place)


def _copies(document: Document, shape: BundleShape, folder: Path, place: str) -> CopiedObjects:
    try:
        return CopiedObjects(objects_of(folder / str(shape.copies)))
    except (ConfigError, NotFoundError) as e:
        raise document.fault(f"{place}.copies", f"cannot be copied: {e}", hint=e.hint) from e


def _trace(document: Document, spec: LoadSpec, folder: Path) -> tuple[TraceRow, ...]:
    if spec.arrivals.trace is None:
        return ()
    try:
        return read_trace(folder / spec.arrivals.trace)
    except ConfigError as e:
        raise document.fault("spec.arrivals.trace", f"is wrong: {e}", hint=e.hint) from e


def _recorded(
    document: Document, spec: LoadSpec, trace: Sequence[TraceRow]
) -> tuple[ObjectSource, ...]:
    """Return the source of a load without an act: the objects of its recording."""
    if any(
        getattr(spec, act) is not None for act in ("patch", "scale", "delete", "recreate", "list")
    ):
        return ()
    recorded = [row.recorded for row in trace if row.recorded is not None]
    if not recorded:
        raise document.fault("spec.create", "is missing: the trace says when, and not what")
    return (RecordedObjects(recorded),)


def _check_names(loads: Sequence[Load]) -> None:
    names = {load.name for load in loads}
    seen: set[str] = set()
    for load in loads:
        if load.name in seen:
            raise load.document.fault(
                "metadata.name", f"is '{load.name}', as another load is called"
            )
        seen.add(load.name)
        if load.spec.after and load.spec.after not in names:
            raise load.document.fault(
                "spec.after", f"is '{load.spec.after}', which is no load here"
            )
    _check_order(loads)


def _check_order(loads: Sequence[Load]) -> None:
    """Raise ConfigError for loads that wait for each other."""
    after = {load.name: load.spec.after for load in loads}
    for load in loads:
        name, steps = load.spec.after, 0
        while name and steps <= len(loads):
            name, steps = after[name], steps + 1
        if name:
            raise load.document.fault("spec.after", "makes loads wait for each other without end")
