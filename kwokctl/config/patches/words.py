"""Reads patches from words of the command line: `COMPONENT=KEY=VALUE`, or `COMPONENT=KEY-`."""

from collections.abc import Iterable, Iterator, Sequence

from kwokctl.config.nearest import did_you_mean
from kwokctl.config.patches.patch import ComponentPatch, Patches, joined
from kwokctl.errors import UsageError

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
