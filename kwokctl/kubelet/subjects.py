"""Checks all documents that say what the kubelet server answers."""

from collections.abc import Sequence

from kwokctl.config.documents import Document
from kwokctl.kubelet.documents.reader import read_lookup
from kwokctl.kubelet.logs.entries import LOGS


def check_kubelet_documents(documents: Sequence[Document]) -> None:
    """Raise ConfigError, naming the place, for a document with which the server would not start."""
    read_lookup(LOGS, documents)
