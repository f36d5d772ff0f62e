"""The variables `KWOK_…`: those that are options, and those about which the user is warned."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_origin

from kwokctl.config.given import Given
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.not_served import NOT_SERVED, NotServed
from kwokctl.config.options import ClusterOptions, spellings
from kwokctl.config.readers import read_switch, read_whole
from kwokctl.errors import ConfigError

_PREFIX = "KWOK_"
_OTHERS = ("KWOK_WORKDIR",)
"""Variables that are no options of a cluster."""


def from_environment(environ: Mapping[str, str], usual: ClusterOptions) -> dict[str, Given]:
    """Read options from their variables, by field; ConfigError for what is not of the type.

    An empty variable counts as unset.
    """
    return {
        spelling.field: Given(value=_read(text, spelling.type, spelling.env), place=spelling.env)
        for spelling in spellings(usual)
        if spelling.env and (text := environ.get(spelling.env, ""))
    }


def warnings(environ: Mapping[str, str], usual: ClusterOptions) -> Iterator[str]:
    """Name each variable that is set and has no effect."""
    unsupported = {option.env: option for option in NOT_SERVED if option.env}
    variables = (spelling.env for spelling in spellings(usual) if spelling.env)
    known = {*variables, *unsupported, *_OTHERS}
    for name, text in environ.items():
        if not text or not name.startswith(_PREFIX):
            continue
        if name in unsupported:
            if not _asks_for_nothing(unsupported[name], text):
                yield f"{name} is set, but is not supported yet and is ignored"
        elif name not in known:
            yield f"{name} is not a variable of kwokctl and is ignored{_guess(name, known)}"


def _guess(name: str, known: Iterable[str]) -> str:
    """Compare what follows the prefix, which all have in common."""
    near = did_you_mean(name.removeprefix(_PREFIX), (each.removeprefix(_PREFIX) for each in known))
    return f"; {near.replace(chr(39), chr(39) + _PREFIX, 1)}" if near else ""


def _asks_for_nothing(option: NotServed, text: str) -> bool:
    try:
        return option.asks_for_nothing(read_switch(text) if option.is_switch else text)
    except ValueError:
        return False


def _read(text: str, kind: Any, name: str) -> Any:
    """Read the text of a variable as the type of its option."""
    try:
        if kind is bool:
            return read_switch(text)
        if kind is int:
            return read_whole(text)
    except ValueError as e:
        problem = "not true or false" if kind is bool else "not a whole number"
        raise ConfigError(f"{name} is '{text}', {problem}") from e
    if get_origin(kind) is tuple:
        return tuple(word.strip() for word in text.split(",") if word.strip())
    return text
