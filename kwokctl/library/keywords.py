"""The keyword arguments of a cluster's methods: those that are passed on, and those that name options."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TypedDict, get_origin

from kwokctl.components.catalog import usual_options
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import spellings
from kwokctl.config.original import unserved
from kwokctl.errors import UsageError


class SetWords(TypedDict, total=False):
    """Further keywords for a set of objects, as `kwokctl scale` has them as options."""

    name: str
    namespace: str
    params: tuple[str, ...]
    serial_length: int
    on_nodes: str
    grace_seconds: int


class ForkWords(TypedDict, total=False):
    """Further keywords for a fork."""

    new_pki: bool
    """Whether it has certificate authorities of its own."""
    runtime: str
    """That of this cluster unless given."""
    ignore_memory: bool
    """Whether to create it where this machine seems to have too little memory."""
    wait: float | None
    """Seconds that components have to become ready; None does not wait. Unless it is given, the wait ends
    when nothing more has become ready for minutes."""


class WhichWords(TypedDict, total=False):
    """The selection of objects to wait for."""

    namespace: str | None
    """`default` unless given; None for all."""
    selector: str
    count: int
    """The exact number of objects; at least one unless given."""


def demand_known(words: Mapping[str, object], known: Sequence[str], of: str) -> None:
    """Raise UsageError, with the nearest one, for a keyword that is not known; `of` says what the words are of."""
    for word in words:
        if word not in known:
            all_of_them = f"there are: {', '.join(known)}"
            near = did_you_mean(word, known)
            hint = f"{near} {all_of_them}" if near else all_of_them
            raise UsageError(f"'{word}' is no word of {of}", hint=hint)


Option = OptionValue | PathLike[str] | Sequence[str]
"""The value of an option, as Python programs write it."""


def flags_of(options: Mapping[str, Option]) -> dict[str, OptionValue]:
    """Return options as those of the command line are given; UsageError for an unknown one.

    They are called as the flags of `create cluster` are, with `_` in place of `-`.
    """
    return dict(_flags(options))


def _flags(options: Mapping[str, Option]) -> Iterator[tuple[str, OptionValue]]:
    known = {each.field: each for each in spellings(usual_options())}
    for name, value in options.items():
        if name in known:
            yield name, _option_value(value, known[name])
        elif name in unserved.by_field():
            yield name, str(value)
        else:
            raise UsageError(
                f"'{name}' is not an option of a cluster",
                hint=did_you_mean(name, known)
                or "options are those of 'kwokctl create cluster', with '_' in place of '-'",
            )


def _option_value(value: Option, spelling: Spelling) -> OptionValue:
    if get_origin(spelling.type) is tuple:
        return value if isinstance(value, str) else _items(value, spelling)
    if isinstance(value, PathLike):
        return fspath(value)
    is_fit = spelling.type is str or isinstance(value, str) or type(value) is spelling.type
    if isinstance(value, Sequence) and not isinstance(value, str):
        is_fit = False
    if not is_fit and not (spelling.type is float and type(value) is int):
        raise _misfit(value, spelling)
    return str(value) if spelling.type is str else value  # type: ignore[return-value]  # see above


def _items(value: Option, spelling: Spelling) -> tuple[str, ...]:
    if not isinstance(value, Sequence):
        raise _misfit(value, spelling)
    return tuple(map(str, value))


def _misfit(value: object, spelling: Spelling) -> UsageError:
    wanted = "a list" if get_origin(spelling.type) is tuple else f"of type {spelling.type.__name__}"
    return UsageError(f"'{spelling.field}' is {value!r}, which is not {wanted}")
