""""""

from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.logs.log_documents import LOGS, LogsEntry
from tests.support.kubelet_rig import pod


def document(kind: str, spec: Any, name: str = "app", **metadata: Any) -> Document:
    body = {"kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
    return Document(kind=kind, api_version="", name=name, body=body, source="kwok.yaml, document 1")


def read(*documents: Document) -> Lookup[LogsEntry]:
    return read_lookup(LOGS, documents)


def found(lookup: Lookup[LogsEntry], name: str) -> str:
    entry = lookup.find(pod(name), "c")
    assert entry is not None
    return entry.logs_file


def test_the_original_s_documents_are_read() -> None:
    lookup = read(
        document("Logs", {"logs": [{"containers": ["c"], "logsFile": "/a", "follow": True}]}),
        document("Exec", {"execs": "another subject's"}),
        document(
            "ClusterLogs",
            {"selector": {"matchNamespaces": ["default"]}, "logs": [{"logsFile": "/b"}]},
            name="all",
        ),
    )

    assert found(lookup, "app") == "/a"
    assert found(lookup, "other") == "/b"
    assert lookup.find(pod("app"), "d") is None


def test_a_document_may_be_of_another_namespace() -> None:
    lookup = read(document("Logs", {"logs": [{"logsFile": "/a"}]}, namespace="x"))

    assert lookup.find(pod("app"), "c") is None
    assert lookup.find(pod("app", namespace="x"), "c") is not None


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ([], "'spec' must be a mapping"),
        ({"log": []}, "'spec.log' is not a field of a Logs"),
        ({"logs": {}}, "'spec.logs' is wrong: expected 'array', got 'object'"),
        ({"logs": [{"logFile": "/a"}]}, r"'spec.logs\[0\]' is wrong: .*'logFile'"),
        (
            {"logs": [{"logsFile": "/a"}, {"containers": [1]}]},
            r"'spec.logs\[1\].containers\[0\]' is wrong: expected 'str', got 'int'",
        ),
        (
            {"logs": [{"generated": {"template": "a", "linesPerSecond": 0}}]},
            r"'spec.logs\[0\].generated.linesPerSecond' is wrong: expected 'float' > 0",
        ),
        (
            {"logs": [{"generated": {"template": "{{ .line "}}]},
            r"'spec.logs\[0\]' has a template that cannot be compiled",
        ),
        (
            {"logs": [{"generated": {"template": "{{ NodeIP }}"}}]},
            r"'spec.logs\[0\]' has a template that calls what is not a function: NodeIP",
        ),
        (
            {"logs": [{"logsFile": "/a", "generated": {"template": "a"}}]},
            r"'spec.logs\[0\]' has both a file and 'generated' lines",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(spec: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=f"^kwok.yaml, document 1: {problem}"):
        read(document("Logs", spec))


def test_a_document_needs_a_name_and_knows_its_fields() -> None:
    with pytest.raises(ConfigError, match=r"'metadata\.name' is missing"):
        read(document("Logs", {}, name=""))
    with pytest.raises(ConfigError, match=r"'spec\.selector' is not a field of a Logs"):
        read(document("Logs", {"selector": {}}))
    with pytest.raises(ConfigError, match=r"'spec\.selector' is wrong: .*'matchLabels'"):
        read(document("ClusterLogs", {"selector": {"matchLabels": {}}}))
