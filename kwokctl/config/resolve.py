"""Merges flags, environment variables and configuration documents into one checked value.

A flag overrides an environment variable, that over the configuration documents (the later one
wins), and those over the built-in default. What cannot be read, or cannot be right, is an error
that names the place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from kwokctl.config import profiles
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.extras.extras_reader import extras_in, repeated
from kwokctl.config.given import Given
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.option_keys import KIND, from_document, named_without_effect, options_of
from kwokctl.config.options import ClusterOptions, spellings, with_values
from kwokctl.config.original import compat, old_names, unserved
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.errors import KwokctlError
from kwokctl.replacing import replace

_AUTO = "auto"
"""The value of `runtime` that means the same as none."""
_PREFIX = "KWOK_"
_OTHERS = ("KWOK_WORKDIR",)
"""Variables that are no options of a cluster."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a cluster, which of them were given, and what to warn about."""

    options: ClusterOptions
    chosen: frozenset[str]
    """Names of the fields that did not come from the built-in defaults."""
    warnings: tuple[str, ...]
    places: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The places of options that were not given as flags, by field, as in `KWOK_RUNTIME is 'docker'`."""

    @contextmanager
    def naming(self, *fields: str) -> Iterator[None]:
        """Add to the hint of an error where its user has set one of these fields, if not by a flag."""
        try:
            yield
        except KwokctlError as e:
            places = [self.places[name] for name in fields if name in self.places]
            e.hint = "; ".join([*([e.hint] if e.hint else []), *places]) or None
            raise


def resolve_options(
    usual: ClusterOptions,
    flags: Mapping[str, OptionValue],
    environ: Mapping[str, str],
    documents: Sequence[Document],
) -> Resolved:
    """Merge what was given in all places; `flags` holds only flags that were given, by field name.

    `usual` are the options of a cluster for which nothing was given: no others can be given.
    An empty text counts as not given, but is no number. Raises UsageError for a bad value of a flag, ConfigError for
    one from elsewhere, and NotServedError for an option that is not supported.
    """
    configurations = [each for each in documents if each.kind == KIND]
    by_field = {spelling.field: spelling for spelling in spellings(usual)}
    requests = not_served(flags, environ, configurations)
    idle = tuple(unserved.refuse_or_remark(requests))
    given: dict[str, Given] = {}
    for document in configurations:
        given.update(from_document(document, usual))
    given.update(from_environment(environ, usual))
    given.update(_from_flags(flags, by_field))
    given = old_names.translated(given)
    values = {
        name: each.checked(by_field[name])
        for name, each in given.items()
        if each.value != "" or by_field[name].type in (int, float)
    }
    if values.get("runtime") == _AUTO:
        del values["runtime"]
    known = {each.component for each in usual.components}
    flagged = {name for name, each in given.items() if each.is_flag}
    theirs = compat.defaults(by_field.values(), values, flagged)
    options = with_values(usual, {**theirs, **profiles.defaults(values), **values})
    return Resolved(
        options=replace(options, extras=extras_in(configurations, known)),
        chosen=frozenset(values),
        warnings=(
            *warnings(environ, usual),
            *idle,
            *named_without_effect(configurations),
            *repeated(configurations, known),
        ),
        places={name: str(each) for name, each in given.items() if not each.is_flag},
    )


def not_served(
    flags: Mapping[str, OptionValue], environ: Mapping[str, str], documents: Iterable[Document]
) -> Iterator[unserved.Unserved]:
    """Yield the original's options that kwokctl does not serve, of any place where they are given."""
    yield from unserved.in_words(flags)
    yield from unserved.in_environment(environ)
    for document in documents:
        if document.kind == KIND:
            yield from unserved.in_document(options_of(document), f"{document.source}: options")


def _from_flags(
    flags: Mapping[str, OptionValue], by_field: Mapping[str, Spelling]
) -> Iterator[tuple[str, Given]]:
    for name, value in flags.items():
        if name not in unserved.by_field():
            place = f"'{by_field[name].flag or by_field[name].key}'"
            yield name, Given(value=value, place=place, is_flag=True)


def from_environment(environ: Mapping[str, str], usual: ClusterOptions) -> dict[str, Given]:
    """Return options as their variables give them, by field; an empty variable counts as unset."""
    return {
        spelling.field: Given(value=text, place=spelling.env)
        for spelling in spellings(usual)
        if spelling.env and (text := environ.get(spelling.env, ""))
    }


def warnings(environ: Mapping[str, str], usual: ClusterOptions) -> Iterator[str]:
    """Name each variable that begins as ours do and is unknown."""
    known = {spelling.env for spelling in spellings(usual) if spelling.env}
    known |= {option.env for option in NOT_SERVED if option.env} | {*_OTHERS}
    for name, text in environ.items():
        if text and name.startswith(_PREFIX) and name not in known:
            yield f"{name} is not a variable of kwokctl and is ignored{_guess(name, known)}"


def _guess(name: str, known: Iterable[str]) -> str:
    """Compare what follows the prefix, which all have in common."""
    near = did_you_mean(name.removeprefix(_PREFIX), (each.removeprefix(_PREFIX) for each in known))
    return f"; {near.replace(chr(39), chr(39) + _PREFIX, 1)}" if near else ""
