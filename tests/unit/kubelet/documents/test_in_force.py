"""Which documents count, with and without custom resources."""

from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.documents.in_force import lookup_uses
from kwokctl.kubelet.logs.log_documents import LOGS
from tests.support.kubelet_rig import pod


def body(kind: str, name: str, file: str, **spec: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"logs": [{"logsFile": file}], **spec},
    }


def in_namespace(given: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return {**given, "metadata": {**given["metadata"], "namespace": namespace}}


class Shelf:
    """The documents of a subject, with those of these files."""

    def __init__(self, *files: dict[str, Any]) -> None:
        documents = [
            Document(
                kind=each["kind"],
                api_version="",
                name=each["metadata"]["name"],
                body=each,
                source=f"kwok.yaml, document {number}",
            )
            for number, each in enumerate(files, 1)
        ]
        self.lookup = read_lookup(LOGS, documents)
        self.changes: list[None] = []
        self.lookup.listen(lambda: self.changes.append(None))
        self.uses = lookup_uses(LOGS, self.lookup, documents)

    def put(self, kind: str, *custom: dict[str, Any]) -> dict[str, str]:
        """Let these be the custom resources of a kind; return what is wrong."""
        return dict(self.uses[kind]({_key(each["metadata"]): each for each in custom}))

    def file_of(self, name: str = "app") -> str:
        entry = self.lookup.find(pod(name), "c")
        return entry.logs_file if entry else ""


def _key(metadata: dict[str, Any]) -> str:
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else metadata["name"]


def test_a_custom_resource_takes_the_place_of_the_files_document_of_its_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    shelf = Shelf(body("Logs", "app", "/file"))
    assert shelf.file_of() == "/file"

    shelf.put("Logs", in_namespace(body("Logs", "app", "/custom")))
    assert shelf.file_of() == "/custom"
    assert "Logs 'default/app' of the cluster counts in place of the file's" in caplog.text

    shelf.put("Logs")
    assert shelf.file_of() == "/file"
    assert "Logs 'default/app' of the cluster is gone: the file's counts again" in caplog.text


def test_one_for_another_namespace_takes_no_place() -> None:
    shelf = Shelf(body("Logs", "app", "/file"))

    shelf.put("Logs", in_namespace(body("Logs", "app", "/custom"), "elsewhere"))

    assert shelf.file_of() == "/file"


def test_cluster_wide_custom_resources_come_before_the_files_in_the_order_of_their_names() -> None:
    shelf = Shelf(body("ClusterLogs", "all", "/file"))
    narrow = body("ClusterLogs", "b", "/narrow", selector={"matchNames": ["web"]})

    shelf.put("ClusterLogs", narrow)
    assert (shelf.file_of("web"), shelf.file_of("app")) == ("/narrow", "/file")

    shelf.put("ClusterLogs", narrow, body("ClusterLogs", "a", "/first"))
    assert shelf.file_of("web") == "/first"


def test_documents_of_files_that_share_a_name_all_count_until_one_takes_their_place() -> None:
    narrow = body("ClusterLogs", "all", "/narrow", selector={"matchNames": ["web"]})
    shelf = Shelf(narrow, body("ClusterLogs", "all", "/file"), body("ClusterLogs", "x", "/x"))

    shelf.put("ClusterLogs", body("ClusterLogs", "y", "/y", selector={"matchNames": ["other"]}))
    assert (shelf.file_of("web"), shelf.file_of()) == ("/narrow", "/file")

    shelf.put("ClusterLogs", body("ClusterLogs", "all", "/z", selector={"matchNames": ["other"]}))
    assert shelf.file_of("web") == "/x"


def test_one_that_is_wrong_is_named_with_its_field_and_counts_as_absent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shelf = Shelf(body("ClusterLogs", "all", "/file"))
    wrong = {"metadata": {"name": "all"}, "spec": {"logs": [{"generated": {"template": "{{"}}]}}

    refused = shelf.put("ClusterLogs", wrong, body("ClusterLogs", "other", "/other"))

    assert list(refused) == ["all"]
    assert refused["all"].startswith("'spec.logs[0]' has a template that cannot be compiled: ")
    assert "ClusterLogs 'all' of the cluster is left out: 'spec.logs[0]'" in caplog.text
    assert "; the file's counts" in caplog.text
    assert shelf.file_of() == "/other"


@pytest.mark.parametrize("spec", ["x", [], {"logs": {}}, {"logs": [{"logsFile": 1}]}])
def test_whatever_a_cluster_may_have_stored_stops_nothing(spec: Any) -> None:
    shelf = Shelf()

    refused = shelf.put("Logs", {"metadata": {"name": "a", "namespace": "default"}, "spec": spec})

    assert refused["default/a"].startswith("'spec")


def test_what_others_write_into_an_object_is_no_change() -> None:
    shelf = Shelf()
    custom = body("ClusterLogs", "all", "/custom")
    shelf.put("ClusterLogs", custom)
    before = list(shelf.changes)

    touched = {**custom, "metadata": {"name": "all", "labels": {"a": "b"}}, "status": {"x": 1}}
    shelf.put("ClusterLogs", touched)

    assert shelf.changes == before
