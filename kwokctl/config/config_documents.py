"""Reads the YAML documents that configure kwokctl: options, resource templates, Stages and similar.

One file may hold many documents, distinguished by their `kind`. Only the outer structure is checked
here (apiVersion, kind, metadata); the fields are checked by the modules that use them.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.config.document_folders import files_of
from kwokctl.config.document_kinds import API_VERSIONS, CONFIGURATION, KWOK
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json
from kwokctl.progress import Progress, Silent

STDIN = "-"
_SHAPES = {dict: "a mapping", list: "a list", str: "a string", bool: "a switch", int: "a number"}
_SILENT = Silent()
_MERGED = frozenset({"KwokConfiguration", "KwokctlConfiguration"})
"""Kinds whose documents are merged: their fields are put together where they are used."""
_LIST = "List"
"""The kind that kubectl writes for several objects: its items are documents."""
_OWN_VERSIONS = frozenset({CONFIGURATION, KWOK})
"""Of one of them kwok's kinds are taken, whichever it is: early files have another than today's."""
_WHERE = re.compile(r" - at `\$\.?(?P<path>.*)`$")


class FieldError(ConfigError):
    """A field of a document is wrong."""

    def __init__(self, place: str, field: str, problem: str, *, hint: str | None = None) -> None:
        """Name the place of the document, the field, and what is wrong with it."""
        super().__init__(f"{place}: '{field}' {problem}", hint=hint)
        self.field = field
        self.problem = problem


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML document, and where it was read."""

    kind: str
    api_version: str
    name: str
    """`metadata.name`; empty if there is none."""
    body: dict[str, Json]
    source: str
    """File and position, as a message names them: `kwok.yaml, document 2`."""

    def fault(self, field: str, problem: str, *, hint: str | None = None) -> FieldError:
        """Make the error about `field`, a path such as `spec.delay`."""
        return FieldError(self.source, field, problem, hint=hint)

    def misshapen(self, error: msgspec.ValidationError, within: str = "") -> FieldError:
        """Make the error for what has not the shape that it should have, `within` a field or the document."""
        found = _WHERE.search(str(error))
        inside = found["path"] if found else ""
        problem = _WHERE.sub("", str(error)).replace("`", "'")
        path = (
            f"{within}.{inside}" if within and inside and inside[0] != "[" else f"{within}{inside}"
        )
        return self.fault(path or "spec", f"is wrong: {problem[:1].lower()}{problem[1:]}")

    def check_fields(self, known: Iterable[str]) -> None:
        """Raise ConfigError if the document has a field that is not one of the `known`."""
        names = ("apiVersion", "kind", "metadata", *known)
        for field in self.body:
            if field not in names:
                hint = did_you_mean(field, names) or f"fields are: {', '.join(names)}"
                raise self.fault(field, f"is not a field of a {self.kind}", hint=hint)


def load_documents(
    paths: Sequence[str],
    *,
    default: Path | None = None,
    progress: Progress = _SILENT,
    stdin: Callable[[], bytes] | None = None,
) -> list[Document]:
    """Read every document of a known kind from `paths`, in order; `-` is standard input, once.

    A leading `~` is the home folder. A folder means its YAML files, or those that its kustomization lists. The `default` file comes
    first unless it is listed, and may be absent. A `List` is its items. Empty documents and unknown kinds are left out,
    the latter with a warning, and so is one of the other apiVersion of kwok read. Raises ConfigError, naming file, document and field, for what cannot
    be read, has not the shape of a document, or is of another apiVersion than the one that is
    supported.
    """
    documents: list[Document] = []
    for name, content in _contents(_ordered(paths, default), str(default), stdin or _read_stdin):
        for document in _parse(name, content):
            _warn_other_version(document, progress)
            if document.kind in API_VERSIONS:
                documents.append(document)
            else:
                _warn_unknown(document, progress)
    return documents


def only_document(documents: Sequence[Document], kind: str, source: str) -> Document:
    """Return the one document of a kind; ConfigError if there is another number of them in the file `source`."""
    found = [each for each in documents if each.kind == kind]
    if len(found) != 1:
        words = f"are {len(found)} documents" if found else "is no document"
        raise ConfigError(
            f"there {words} of kind '{kind}' in '{source}'",
            hint="its fields are in the schema that this prints: kwokctl config schema",
        )
    return found[0]


def latest_of_each(documents: Sequence[Document]) -> list[Document]:
    """Return one document of each kind, namespace and name, the last; all that have no name."""
    last = {_identity(document): number for number, document in enumerate(documents)}
    return [
        document
        for number, document in enumerate(documents)
        if not document.name or document.kind in _MERGED or last[_identity(document)] == number
    ]


def _identity(document: Document) -> tuple[str, object, str]:
    metadata = document.body.get("metadata") or {}
    return document.kind, metadata.get("namespace"), document.name


def _ordered(paths: Sequence[str], default: Path | None) -> list[str]:
    """Put the default file in front unless it is listed, and keep the first `-` only."""
    # A shell leaves the `~` of `--config=~/kwok.yaml` as it is, and Python programs have none.
    paths = [str(expanded(path)) if path.startswith("~") else path for path in paths]
    first = [] if default is None or str(default) in paths else [str(default)]
    once = [path for i, path in enumerate(paths) if path != STDIN or STDIN not in paths[:i]]
    return first + once


def _contents(
    paths: Sequence[str], optional: str, stdin: Callable[[], bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file; `optional` may be absent."""
    for path in paths:
        if path == STDIN:
            yield "standard input", stdin()
        elif Path(path).is_dir():
            yield from ((str(file), _read(file)) for file in files_of(Path(path)))
        elif path != optional or Path(path).exists():
            yield path, _read(Path(path))


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as e:
        raise ConfigError(f"cannot read standard input: {e.strerror}") from e


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as e:
        raise ConfigError(f"there is no file '{path}'") from e
    except OSError as e:
        raise ConfigError(f"cannot read '{path}': {e.strerror}") from e


def _parse(name: str, content: bytes) -> Iterator[Document]:
    try:
        bodies = yaml.load_all(content.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        raise ConfigError(f"'{name}' is not a text file (byte {e.start} is not UTF-8)") from e
    except ConfigError as e:
        raise ConfigError(f"'{name}' is not valid YAML: {e}", hint=e.hint) from e
    for index, body in enumerate(bodies, start=1):
        yield from documents_in(body, f"{name}, document {index}")


def documents_in(body: object, source: str) -> Iterator[Document]:
    """Yield the document, or those that are items of a list; none for an empty one. ConfigError names the `source`."""
    if isinstance(body, dict) and body.get("kind") == _LIST:
        items = body.get("items") or []
        if not isinstance(items, list):
            raise ConfigError(f"{source}: 'items' is {_shape(items)}, not a list")
        for number, item in enumerate(items, start=1):
            yield from documents_in(item, f"{source}, item {number}")
    elif body is not None:
        yield _document(body, source)


def _document(body: object, source: str) -> Document:
    if not isinstance(body, dict):
        raise ConfigError(f"{source} is {_shape(body)}, not a mapping")
    kind = _text(body, "kind", source)
    if not kind:
        raise ConfigError(f"{source}: 'kind' is missing", hint=_misspelt("kind", body))
    metadata = body.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ConfigError(f"{source}: 'metadata' is {_shape(metadata)}, not a mapping")
    given, supported = _api_versions(body, kind, source)
    return Document(
        kind=kind,
        api_version=given,
        name=_text(metadata, "name", source, inside="metadata."),
        body=body if given in ("", supported) else {**body, "apiVersion": supported},
        source=source,
    )


def _api_versions(body: dict[str, object], kind: str, source: str) -> tuple[str, str]:
    """Return the apiVersion that is given, and the one that is supported, which it stands for."""
    given = _text(body, "apiVersion", source)
    supported = API_VERSIONS.get(kind, given)
    if given in ("", supported) or {given, supported} <= _OWN_VERSIONS:
        return given, supported
    raise ConfigError(
        f"{source}: 'apiVersion' is '{given}', which is not supported for kind '{kind}'",
        hint=f"write 'apiVersion: {supported}'",
    )


def _text(body: dict[str, object], field: str, source: str, *, inside: str = "") -> str:
    value = body.get(field)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{source}: '{inside}{field}' is {_shape(value)}, not a string")
    return value or ""


def _misspelt(field: str, body: dict[str, object]) -> str | None:
    near = did_you_mean(field, body)
    return near and f"{near.removeprefix('did you mean ').rstrip('?')} is spelt '{field}'"


def _shape(value: object) -> str:
    return _SHAPES.get(type(value), f"a {type(value).__name__}")


def _warn_other_version(document: Document, progress: Progress) -> None:
    supported = document.body.get("apiVersion") or ""
    if document.api_version != supported:
        progress.warn(
            f"{document.source}: 'apiVersion' is '{document.api_version}', and a {document.kind} is read "
            f"as one of '{supported}'"
        )


def _warn_unknown(document: Document, progress: Progress) -> None:
    near = did_you_mean(document.kind, API_VERSIONS)
    progress.warn(
        f"{document.source}: kind '{document.kind}' is not known and is left out"
        + (f"; {near}" if near else "")
    )
