"""Documents that a Python program gives: a file, or a mapping."""

from collections.abc import Mapping
from os import PathLike, fspath

from kwokctl.config.config_documents import Document, documents_in, load_documents
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json

GivenDocument = str | PathLike[str] | Mapping[str, Json]
"""A file of documents, or one document."""
_OF_PROGRAM = "a document of the program"


def documents_of(given: GivenDocument) -> tuple[list[Document], str]:
    """Return the documents that a program gives, and what messages call their source.

    Raises ConfigError for what is no document, and for a file that cannot be read.
    """
    if isinstance(given, Mapping):
        return [*documents_in(dict(given), _OF_PROGRAM)], _OF_PROGRAM
    path = str(expanded(fspath(given)))
    return load_documents([path]), path
