"""Reads `componentsPatches` of configuration documents."""

from collections.abc import Iterator, Sequence

from kwokctl.config.documents import Document
from kwokctl.config.patches.patch import ComponentPatch, joined
from kwokctl.config.patches.shapes import (
    EnvironmentShape,
    StrictShape,
    VolumeShape,
    envs_of,
    shaped,
    text_of,
    volume_of,
)
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json

FIELD = "componentsPatches"
_KIND = "KwokctlConfiguration"


class ArgumentShape(StrictShape):
    """An argument; `override` is the original's word for what every argument does here."""

    key: str
    value: str | int | float | bool | None = None
    override: bool = False
    remove: bool = False


class ComponentPatchShape(StrictShape):
    """The changes to one component."""

    name: str
    extra_args: tuple[ArgumentShape, ...] = ()
    extra_volumes: tuple[VolumeShape, ...] = ()
    extra_envs: tuple[EnvironmentShape, ...] = ()


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
    for number, shape in enumerate(shaped(value, ComponentPatchShape, FIELD, source)):
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
        args={key: text_of(each.value) for key, each in arguments if not each.remove},
        removed=frozenset(key for key, each in arguments if each.remove),
        envs=envs_of(shape.extra_envs),
        volumes=tuple(volume_of(each, place) for each in shape.extra_volumes),
    )
