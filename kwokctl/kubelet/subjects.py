"""Checks all documents that say what the kubelet server answers."""

from collections.abc import Sequence

from kwokctl.config.config_documents import Document
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.logs.log_documents import LOGS
from kwokctl.kubelet.streams.stream_documents import ATTACHES, EXECS, FORWARDS
from kwokctl.kubelet.usage.usage_routes import check_usage_documents


def check_kubelet_documents(documents: Sequence[Document]) -> None:
    """Raise ConfigError, naming the place, for a document with which the server would not start."""
    read_lookup(LOGS, documents)
    read_lookup(ATTACHES, documents)
    read_lookup(EXECS, documents)
    read_lookup(FORWARDS, documents)
    check_usage_documents(documents)
