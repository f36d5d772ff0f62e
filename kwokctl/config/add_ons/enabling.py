"""Resolves the options of a cluster together with the add-ons that they enable."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.config.add_on_images import AddOnImageOptions, with_images
from kwokctl.config.add_ons.braced_words import check_words
from kwokctl.config.add_ons.folder import AddOn, folder_of, read_add_on
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue
from kwokctl.config.groups import SelectionOptions
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original import unserved
from kwokctl.config.resolve import Resolved, not_served, resolve_options
from kwokctl.replacing import replace


class ResolvedWithAddOns(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a cluster, and all documents that count for it."""

    resolved: Resolved
    documents: tuple[Document, ...]
    """Those of add-ons, then the user's."""


def resolve_with_add_ons(
    usual: ClusterOptions,
    flags: Mapping[str, OptionValue],
    environ: Mapping[str, str],
    documents: Sequence[Document],
) -> ResolvedWithAddOns:
    """Merge what was given in all places, below it what the enabled add-ons configure.

    An add-on is a configuration of kwokctl that comes before the user's, so the user's options,
    patches and components win. Raises what `resolve_options` does, and ConfigError for an add-on
    that is wrong, and NotServedError for an option of the original about an add-on that is enabled.
    """
    first = resolve_options(usual, flags, environ, documents)
    choice = first.options.selection
    known = {str(each.component) for each in usual.components}
    words = [word for word in (*choice.components, *choice.enable) if word not in known]
    found = [(word, read_add_on(folder)) for word in words if (folder := folder_of(word))]
    wanted = _wanted(found, choice.disable)
    enabled = _versions(choice, wanted)
    unserved.refuse_for(enabled, not_served(flags, environ, documents))
    if not found:
        return ResolvedWithAddOns(resolved=first, documents=tuple(documents))
    images = first.options.add_on_images
    together = (*(_document(each, images) for each in wanted), *documents)
    resolved = resolve_options(usual, flags, environ, together)
    for extra in resolved.options.extras:
        if extra.add_on:
            check_words(extra)
    return ResolvedWithAddOns(
        resolved=_without(resolved, {word for word, _ in found}, {each.name for _, each in found}),
        documents=together,
    )


def _versions(choice: SelectionOptions, wanted: Sequence[AddOn]) -> dict[str, str]:
    """Return the version of each add-on that is enabled, and none of each component that is."""
    words = {*choice.components, *choice.added}.difference(choice.disable)
    return dict.fromkeys(words, "") | {each.name: each.version for each in wanted}


def _document(add_on: AddOn, images: AddOnImageOptions) -> Document:
    body = with_images(add_on.name, add_on.document.body, images)
    return replace(add_on.document, body=body)


def _wanted(found: Sequence[tuple[str, AddOn]], disabled: Sequence[str]) -> list[AddOn]:
    """Return each add-on once, but for those that are disabled again."""
    by_name = {each.name: each for word, each in found if not {word, each.name} & {*disabled}}
    return list(by_name.values())


def _without(resolved: Resolved, words: set[str], names: set[str]) -> Resolved:
    """Leave the add-ons out of the selection: their components are in the options by now."""
    choice = resolved.options.selection
    selection = replace(
        choice,
        components=tuple(each for each in choice.components if each not in words),
        enable=tuple(each for each in choice.enable if each not in words),
        disable=tuple(each for each in choice.disable if each not in words | names),
    )
    return replace(resolved, options=replace(resolved.options, selection=selection))
