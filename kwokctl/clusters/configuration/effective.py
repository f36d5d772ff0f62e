"""Merges configuration files, variables and defaults into documents."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.clusters.configuration.convert import converted
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import CONFIGURATION
from kwokctl.config.extras.extras_reader import FIELD as EXTRAS
from kwokctl.config.option_keys import KIND, options_to_document
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch_reader import FIELD, patches_in
from kwokctl.config.resolve import Resolved
from kwokctl.controller.configuration import KIND as OF_CONTROLLER
from kwokctl.json_value import Json


def effective(resolved: Resolved, documents: Sequence[Document]) -> list[Json]:
    """Return the documents of a cluster that would be created now, every option with its value."""
    return _documents(options_to_document(resolved.options), resolved.options, documents)


def given(resolved: Resolved, documents: Sequence[Document]) -> list[Json]:
    """Return the documents of a cluster with only those options that files and variables give."""
    head, *others = _documents(
        options_to_document(resolved.options, only=resolved.chosen), resolved.options, documents
    )
    # A file that is tidied again stays the same, whatever its options were converted from.
    return [{**head, "options": dict(sorted(head["options"].items()))}, *others]


def _documents(
    values: Mapping[str, object], options: ClusterOptions, documents: Sequence[Document]
) -> list[Json]:
    lists = {
        EXTRAS: [extra.to_document() for extra in options.extras],
        FIELD: [patch.to_document() for patch in patches_in(documents)],
    }
    head: dict[str, object] = {"apiVersion": CONFIGURATION, "kind": KIND, "options": values}
    return [
        converted(head) | {field: items for field, items in lists.items() if items},
        *_of_controller([each for each in documents if each.kind == OF_CONTROLLER]),
        *(converted(each.body) for each in documents if each.kind not in {KIND, OF_CONTROLLER}),
    ]


def _of_controller(documents: Sequence[Document]) -> Iterator[Json]:
    """Yield the documents of kind KwokConfiguration as one, if there is any."""
    merged: dict[str, Json] = {}
    for document in documents:
        options = {**(merged.get("options") or {}), **(document.body.get("options") or {})}
        merged |= document.body | {"options": options}
    if merged:
        yield {"apiVersion": CONFIGURATION, **merged}
