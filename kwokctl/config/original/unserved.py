"""Finds where options are given that kwokctl does not serve; refuses them, or says once what is idle."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from kwokctl.config.flag_words import read_switch
from kwokctl.config.original.not_served import NOT_SERVED, NotServed
from kwokctl.errors import NotServedError


class Unserved(msgspec.Struct, frozen=True, kw_only=True):
    """An option that is not served, as it was given."""

    option: NotServed
    value: object
    place: str
    """As a message names it: `'--jaeger-port'`, `KWOK_JAEGER_PORT`, `kwok.yaml: options.jaegerPort`."""


@cache
def by_field() -> Mapping[str, NotServed]:
    """Return the options that are not served, by the name under which words have them."""
    return {option.field: option for option in NOT_SERVED}


def in_words(words: Mapping[str, object]) -> Iterator[Unserved]:
    """Yield those among the words of a command."""
    for name, option in by_field().items():
        if option.flag and words.get(name) is not None:
            yield Unserved(option=option, value=words[name], place=f"'{option.flag}'")


def in_environment(environ: Mapping[str, str]) -> Iterator[Unserved]:
    """Yield those that variables give; an empty variable counts as unset."""
    for option in NOT_SERVED:
        if option.env and (text := environ.get(option.env)):
            yield Unserved(option=option, value=_read(option, text), place=option.env)


def in_document(options: Mapping[str, object], where: str) -> Iterator[Unserved]:
    """Yield those among the options of a document."""
    by_key = {option.key: option for option in NOT_SERVED}
    for key, value in options.items():
        if key in by_key:
            yield Unserved(option=by_key[key], value=value, place=f"{where}.{key}")


def refuse_or_remark(requests: Iterable[Unserved]) -> Iterator[str]:
    """Yield a line for each reason for which something given can change nothing.

    Raises NotServedError for the first option that asks for something, before any line.
    """
    asking = [each for each in requests if not each.option.asks_for_nothing(each.value)]
    for each in asking:
        if not each.option.is_idle:
            raise NotServedError(each.option.refusal(each.place))
    for reason in dict.fromkeys(each.option.reason for each in asking):
        places = dict.fromkeys(each.place for each in asking if each.option.reason == reason)
        yield f"{', '.join(places)}: without effect, because {reason}"


def refuse_for(enabled: Mapping[str, str], requests: Iterable[Unserved]) -> None:
    """Raise NotServedError for the first that asks for something of an enabled component or add-on.

    `enabled` gives the version of each; what asks for that version asks for nothing.
    """
    for each in requests:
        name = each.option.idle_unless
        if name not in enabled or each.option.asks_for_nothing(each.value):
            continue
        if str(each.value).removeprefix("v") != enabled[name].removeprefix("v"):
            raise NotServedError(each.option.refusal(each.place))


def _read(option: NotServed, text: str) -> object:
    """Return a switch as such; what cannot be read asks for something."""
    try:
        return read_switch(text) if option.type is bool else text
    except ValueError:
        return text
