"""Reads patches: from `componentsPatches` of configuration documents, or from words of the command line.

A word is `COMPONENT=KEY=VALUE`, or `COMPONENT=KEY-`.
"""

from collections.abc import Iterable, Iterator, Sequence

from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.patches.document_shapes import (
    EnvironmentShape,
    StrictShape,
    VolumeShape,
    envs_of,
    shaped,
    text_of,
    volume_of,
)
from kwokctl.config.patches.patch import ComponentPatch, Patches, joined
from kwokctl.errors import ConfigError, UsageError
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


_REMOVED = "-"
"""The suffix of an argument's key that removes the argument."""


def patches_of(texts: Sequence[str], known: Sequence[str]) -> Patches:
    """Read `COMPONENT=KEY[=VALUE]` words into patches by component.

    A bare key means a flag without a value, one that ends in `-` a flag that the component does not
    get. Raises UsageError for a malformed word or an unknown component.
    """
    return joined(_patches(texts, known))


def check_component(place: str, name: str, known: Iterable[str]) -> None:
    """Raise UsageError, naming the place, unless there is a component of that name."""
    names = tuple(known)
    if name not in names:
        raise UsageError(
            f"{place} names the unknown component '{name}'",
            hint=did_you_mean(name, names) or f"components are: {', '.join(names)}",
        )


def _patches(texts: Sequence[str], known: Sequence[str]) -> Iterator[ComponentPatch]:
    for text in texts:
        component, _, argument = text.partition("=")
        key, has_value, value = argument.partition("=")
        key = key.strip().lstrip("-")
        if not component or not key:
            raise UsageError(
                f"'--extra-args {text}' is not COMPONENT=KEY=VALUE",
                hint="for example: --extra-args kube-scheduler=v=4",
            )
        check_component(f"'--extra-args {text}'", component, known)
        if key.endswith(_REMOVED) and not has_value:
            yield ComponentPatch(name=component, removed=frozenset({key.removesuffix(_REMOVED)}))
        else:
            yield ComponentPatch(name=component, args={key: value if has_value else None})
