"""The shapes that patches and descriptions of components have in common in documents."""

import re
from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec

from kwokctl.config.patches.patch import Volume
from kwokctl.errors import ConfigError
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json

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


class StrictShape(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The base of all shapes: a field that they do not name is an error."""


S = TypeVar("S", bound=StrictShape)


class EnvironmentShape(StrictShape):
    """A variable."""

    name: str
    value: str | int | float | bool = ""


class VolumeShape(StrictShape):
    """A file or folder of this machine."""

    host_path: str
    mount_path: str
    name: str = ""
    read_only: bool = False
    path_type: PathType = ""


def shaped(value: Json, kind: type[S], field: str, source: str) -> list[S]:
    """Return the items of a field; raise ConfigError, naming the place, for one of another shape."""
    try:
        return msgspec.convert(value or [], list[kind])  # type: ignore[valid-type]  # a class
    except msgspec.ValidationError as e:
        found = _WHERE.search(str(e))
        path = field + (found["path"] if found else "")
        problem = _WHERE.sub("", str(e)).replace("`", "'")
        raise ConfigError(f"{source}: '{path}': {problem[:1].lower()}{problem[1:]}") from e


def text_of(value: object) -> str | None:
    """Return a value as an argument has it; a switch in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def envs_of(shapes: Iterable[EnvironmentShape]) -> dict[str, str]:
    """Return variables by name."""
    return {each.name: str(text_of(each.value)) for each in shapes}


def volume_of(shape: VolumeShape, place: str) -> Volume:
    """Return a volume; its place on this machine is a whole path from now on."""
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
