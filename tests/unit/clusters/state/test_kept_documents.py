""""""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state.kept_documents import (
    controller_options,
    is_kept,
    kept_documents,
    remarks,
    resource_templates,
    runtime_documents,
)
from kwokctl.config.config_documents import Document
from kwokctl.errors import UsageError
from kwokctl.replacing import replace
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
from tests.support.options import cluster_options

OPTIONS = cluster_options()
OWN = cluster_options(kwok_controller_binary="/bin/true")


def document(kind: str, **body: Any) -> Document:
    whole = {"kind": kind, **body}
    return Document(kind=kind, api_version="", name="x", body=whole, source="mine.yaml, document 1")


def configuration(**options: Any) -> Document:
    return document("KwokConfiguration", options=options)


def test_documents_for_the_controller_are_kept_and_its_configurations_become_one() -> None:
    logs = document("Logs", spec={"logs": []})
    given = [
        configuration(cidr="10.1.0.0/16", nodeIP="192.0.2.1"),
        document("KwokctlConfiguration"),
        logs,
        configuration(cidr="10.2.0.0/16"),
        document("Stage"),
    ]

    kept = kept_documents(OPTIONS, given)

    assert [body["kind"] for body in kept] == ["KwokConfiguration", "Logs"]
    assert controller_options(kept) == {"cidr": "10.2.0.0/16", "nodeIP": "192.0.2.1"}
    assert kept[1] == logs.body


def test_paths_are_those_of_the_callers_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logs = document("Logs", spec={"logs": [{"containers": ["a"], "logsFile": "a.log"}]})
    shell = document("Exec", spec={"execs": [{"local": {"workDir": "/srv"}}]})

    first, second = kept_documents(OPTIONS, [logs, shell])

    assert first["spec"]["logs"][0]["logsFile"] == f"{tmp_path}/a.log"
    assert second["spec"]["execs"][0]["local"]["workDir"] == "/srv"
    assert logs.body["spec"]["logs"][0]["logsFile"] == "a.log"


def test_another_controller_gets_the_configured_parallelism() -> None:
    [kept] = kept_documents(OWN, [configuration(podPlayStageParallelism=9, nodeLeaseParallelism=0)])

    assert kept["options"] == {
        "podPlayStageParallelism": 9,
        "nodePlayStageParallelism": 4,
        "nodeLeaseParallelism": 4,
        "podsOnNodeSyncParallelism": 1,
    }
    assert kept["apiVersion"] == "config.kwok.x-k8s.io/v1alpha1"
    assert kept_documents(OPTIONS, []) == ()


def test_the_option_for_parallelism_reaches_another_controller() -> None:
    options = cluster_options(kwok_controller_binary="/bin/true", controller_parallelism=16)
    [kept] = kept_documents(options, [configuration(podPlayStageParallelism=9)])

    assert kept["options"]["podPlayStageParallelism"] == 9
    assert kept["options"]["nodePlayStageParallelism"] == 16


def test_settings_without_effect_are_reported() -> None:
    given = [
        configuration(nodePort=1, enableProfilingHandler=False),
        document("Exec"),
        document("KwokctlResource"),
    ]

    (said,) = remarks(given)

    assert "'KwokConfiguration.options.nodePort' is ignored" in said


def test_templates_are_kept_for_scale_and_not_for_the_controller() -> None:
    given = [document("KwokctlResource"), document("Exec"), document("Stage")]

    assert resource_templates(given) == (given[0].body,)
    assert [body["kind"] for body in kept_documents(OPTIONS, given)] == ["Exec"]
    assert not is_kept(given[0].body)


OF_KIND = Document(
    kind="Cluster",
    api_version="kind.x-k8s.io/v1alpha4",
    name="",
    body={"kind": "Cluster"},
    source="f",
)


def test_a_document_for_a_runtime_is_kept_for_it_alone() -> None:
    assert runtime_documents(BringingRuntime(), [OF_KIND]) == ({"kind": "Cluster"},)
    assert runtime_documents(FakeRuntime(), []) == ()


@pytest.mark.parametrize("group", ["kind.x-k8s.io.example/v1", "example/v1"])
def test_a_document_for_another_runtime_is_refused(group: str) -> None:
    with pytest.raises(UsageError, match="is not for the runtime 'fake'") as caught:
        runtime_documents(FakeRuntime(), [OF_KIND])
    assert "--runtime" in str(caught.value.hint)

    with pytest.raises(UsageError, match="is not for the runtime 'bringing'"):
        runtime_documents(BringingRuntime(), [replace(OF_KIND, api_version=group)])
