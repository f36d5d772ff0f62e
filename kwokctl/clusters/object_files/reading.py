"""Reads files of objects: YAML documents, perhaps compressed, and what a recording adds to them.

Whatever is wrong is an error that names the file and the line, raised before the next object is
yielded.
"""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import msgspec
import orjson

from kwokctl.clusters.object_files.time_offsets import absolute
from kwokctl.errors import ConfigError, SnapshotError
from kwokctl.expr import yaml
from kwokctl.expr.nesting import MOST_DEPTH, is_too_deep
from kwokctl.json_value import Json

ACTION_VERSION, ACTION_KIND = "action.kwok.x-k8s.io/v1alpha1", "ResourcePatch"
"""The kind of a recording's changes."""
_GZIP = b"\x1f\x8b"
_HEAD = 1024
_SEPARATOR = re.compile(rb"---(\s|$)")
_FIELD = re.compile(rb'([A-Za-z]\w*|"[\w./-]+"): (.+)')
_PLAIN = frozenset((b"apiVersion", b"kind"))
"""The fields whose texts have no quotes."""


class Owner(msgspec.Struct, frozen=True, rename="camel"):
    """The owner of an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class FileObject(msgspec.Struct, frozen=True, kw_only=True):
    """One object of a file."""

    line: int
    """The first line of its document."""
    api_version: str
    kind: str
    name: str
    namespace: str
    uid: str
    owners: tuple[Owner, ...]
    body: bytes
    """As JSON."""

    @property
    def group(self) -> str:
        """The API group of its kind."""
        return self.api_version.rpartition("/")[0]

    @property
    def label(self) -> str:
        """Its name in messages."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} '{where}{self.name}'"


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    namespace: str | None = None
    uid: str | None = None
    owner_references: list[Owner] | None = None


class _Head(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _Metadata


_head = msgspec.json.Decoder(_Head).decode


class ObjectFile:
    """A file of objects."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def objects(self, start: int) -> Iterator[FileObject]:
        """Yield the objects; what is relative to a moment is now relative to `start`.

        Ends at the first change of a recording.
        """
        for line, value in self._values(start):
            if is_action(value):
                return
            yield from self._objects_in(line, value)

    def actions(self, start: int) -> Iterator[tuple[int, Mapping[str, Json]]]:
        """Yield the changes of a recording, with their lines."""
        for line, value in self._values(start):
            if is_action(value):
                yield line, value

    def fault(self, line: int, problem: str, hint: str | None = None) -> SnapshotError:
        """Return the error for what is wrong at a line."""
        return SnapshotError(f"'{self.path}', line {line}: {problem}", hint=hint)

    def _objects_in(self, line: int, value: Json) -> Iterator[FileObject]:
        if not isinstance(value, dict):
            raise self.fault(line, "this document is not an object", "remove it")
        if not value:
            return
        if isinstance(value.get("items"), list) and str(value.get("kind", "")).endswith("List"):
            for item in value["items"]:
                yield from self._objects_in(line, _of_list(item, value))
            return
        yield self._object(line, value)

    def _object(self, line: int, value: dict[str, Json]) -> FileObject:
        body = orjson.dumps(value)
        try:
            head = _head(body)
        except msgspec.ValidationError as e:
            problem = str(e).replace("`", "'")
            raise self.fault(line, f"this is not a Kubernetes object: {problem}") from e
        metadata = head.metadata
        if not (head.api_version and head.kind and metadata.name):
            raise self.fault(line, "this object has no apiVersion, kind or name")
        return FileObject(
            line=line,
            api_version=head.api_version,
            kind=head.kind,
            name=metadata.name,
            namespace=metadata.namespace or "",
            uid=metadata.uid or "",
            owners=tuple(metadata.owner_references or ()),
            body=body,
        )

    def _values(self, start: int) -> Iterator[tuple[int, Json]]:
        for line, text in self._documents():
            value = self._value(line, absolute(text, start))
            if value is not None:
                yield line, value

    def _value(self, line: int, text: bytes) -> Json:
        quick = _quick(text)
        if quick is not None:
            return quick
        try:
            # Lines before the document make places those of the file.
            found = list(yaml.documents("\n" * (line - 1) + text.decode()))
        except UnicodeDecodeError as e:
            raise self.fault(line, "this document is not UTF-8") from e
        except ConfigError as e:
            raise SnapshotError(f"'{self.path}': {e}", hint=e.hint) from e
        return found[0] if found else None

    def _documents(self) -> Iterator[tuple[int, bytes]]:
        """Yield the text of each document, with the number of its first line."""
        number, first = 0, 1
        lines: list[bytes] = []
        try:
            with self._opened() as file:
                for number, text in enumerate(file, 1):
                    if not _SEPARATOR.match(text):
                        lines.append(text)
                        continue
                    yield first, b"".join(lines)
                    # A document may begin on the line of its separator.
                    rest = text[3:].strip()
                    first, lines = (number, [rest + b"\n"]) if rest else (number + 1, [])
        except (EOFError, zlib.error, gzip.BadGzipFile) as e:
            raise self.fault(
                number, "the compressed file is cut off or damaged here", "use another copy of it"
            ) from e
        yield first, b"".join(lines)

    def _opened(self) -> IO[bytes] | gzip.GzipFile:
        if self.path.exists() and not self.path.is_file():
            raise SnapshotError(f"'{self.path}' is not a file")
        try:
            with self.path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError as e:
            raise SnapshotError(f"'{self.path}' cannot be read: {e.strerror}") from e
        if head.startswith(_GZIP):
            return gzip.open(self.path)
        if b"\0" in head:
            raise SnapshotError(
                f"'{self.path}' is not a file of objects",
                hint="if it is an etcd snapshot, leave '--format k8s' out",
            )
        return self.path.open("rb")


def is_action(value: Json) -> bool:
    """Return whether a document is a change of a recording."""
    return (
        isinstance(value, dict)
        and value.get("kind") == ACTION_KIND
        and value.get("apiVersion") == ACTION_VERSION
    )


def _of_list(item: Json, around: dict[str, Json]) -> Json:
    """Return an item of a list with the kind that a list such as PodList leaves out."""
    if not isinstance(item, dict) or "kind" in item or around["kind"] == "List":
        return item
    kind = str(around["kind"]).removesuffix("List")
    return {"apiVersion": around.get("apiVersion", ""), "kind": kind, **item}


def _quick(text: bytes) -> Json | None:
    """Read a document of a line a field, whose values are JSON; None for any other."""
    parts = []
    for line in text.splitlines():
        found = _FIELD.fullmatch(line)
        if found is None:
            return None
        key, value = found.groups()
        if key in _PLAIN:
            value = b'"%b"' % value.strip(b'"')
        parts.append(b"%b:%b" % (key if key.startswith(b'"') else b'"%b"' % key, value))
    if not parts:
        return None
    try:
        document: Json = orjson.loads(b"{%b}" % b",".join(parts))
    except orjson.JSONDecodeError:
        return None
    has_many = text.count(b"[") + text.count(b"{") > MOST_DEPTH
    # The other reader says where it is too deep.
    return None if has_many and is_too_deep(document) else document
