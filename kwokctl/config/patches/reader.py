"""Reads `componentsPatches` of configuration documents."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from kwokctl.config.documents import Document
from kwokctl.config.patches.patch import ComponentPatch, Volume, joined
from kwokctl.errors import ConfigError
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json

FIELD = "componentsPatches"
_KIND = "KwokctlConfiguration"
_WHERE = re.compile(r" - at `\$(?P<path>.*)`$")
PathType = Literal[
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
]


class _Shape(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What all parts of a patch have in common."""


class ArgumentShape(_Shape):
    """An argument; `override` is the original's word for what every argument does here."""

    key: str
    value: str | int | float | bool | None = None
    override: bool = False
    remove: bool = False


class EnvironmentShape(_Shape):
    """A variable."""

    name: str
    value: str | int | float | bool = ""


class VolumeShape(_Shape):
    """A file or folder of this machine."""

    host_path: str
    mount_path: str
    name: str = ""
    read_only: bool = False
    path_type: PathType = ""


class ComponentPatchShape(_Shape):
    """The changes to one component."""

    name: str
    extra_args: list[ArgumentShape] = []
    extra_volumes: list[VolumeShape] = []
    extra_envs: list[EnvironmentShape] = []


def patches_in(documents: Sequence[Document]) -> Sequence[ComponentPatch]:
    """Return one patch for each component that documents name; a later one wins.

    Raises ConfigError, naming the place, for what is not the shape of a patch.
    """
    found = (
        patch
        for document in documents
        if document.kind == _KIND
        for patch in read_patches(document.body.get(FIELD), document.source)
    )
    return tuple(joined(found).values())


def read_patches(value: Json, source: str) -> Iterator[ComponentPatch]:
    """Yield the patches that a field of a document has."""
    try:
        shapes = msgspec.convert(value or [], list[ComponentPatchShape])
    except msgspec.ValidationError as e:
        found = _WHERE.search(str(e))
        path = FIELD + (found["path"] if found else "")
        problem = _WHERE.sub("", str(e)).replace("`", "'")
        raise ConfigError(f"{source}: '{path}': {problem[:1].lower()}{problem[1:]}") from e
    for number, shape in enumerate(shapes):
        yield _patch(shape, f"{source}: '{FIELD}[{number}]'")


def _patch(shape: ComponentPatchShape, place: str) -> ComponentPatch:
    arguments = [(argument.key.lstrip("-"), argument) for argument in shape.extra_args]
    for key, argument in arguments:
        if not key or (argument.remove and argument.value is not None):
            raise ConfigError(
                f"{place}: an argument needs a 'key', and a 'value' unless it is removed"
            )
    return ComponentPatch(
        name=shape.name,
        args={key: _text(each.value) for key, each in arguments if not each.remove},
        removed=frozenset(key for key, each in arguments if each.remove),
        envs={each.name: str(_text(each.value)) for each in shape.extra_envs},
        volumes=tuple(_volume(each, place) for each in shape.extra_volumes),
    )


def _text(value: object) -> str | None:
    """Return a value as an argument has it; a switch in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _volume(shape: VolumeShape, place: str) -> Volume:
    if not shape.host_path or not shape.mount_path.startswith("/"):
        raise ConfigError(
            f"{place}: a volume needs a 'hostPath' and a 'mountPath' that begins with '/'"
        )
    return Volume(
        name=shape.name,
        host_path=str(expanded(shape.host_path).absolute()),
        mount_path=shape.mount_path,
        read_only=shape.read_only,
        path_type=shape.path_type,
    )
