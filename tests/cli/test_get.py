"""`get`: what is shown of clusters and components, to people and to programs."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import yaml

from kwokctl.cli.verbs.get import show_changes
from kwokctl.clusters.status import ClusterStatus, ComponentStatus, RunStatus
from kwokctl.model import ClusterName, ComponentName, Port
from kwokctl.replacing import replace
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]


ETCD = ComponentStatus(
    name=ComponentName("etcd"),
    status=RunStatus.STOPPED,
    version="3.6.16",
    ports=(Port(name="client", port=2379, host_port=32765),),
    message="first line\npanic: no space left\n",
)


CLUSTER = ClusterStatus(
    name=ClusterName("kwok"),
    maker="kwokctl (Python)",
    runtime="binary",
    kube_version="v1.36.3",
    status=RunStatus.NOT_READY,
    components=(ETCD,),
)


def test_clusters_are_listed_by_name_without_looking_at_them(
    words: Words, runner: RecordingRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("b", "a"):
        (tmp_path / "kwok" / "clusters" / name).mkdir(parents=True)
        (tmp_path / "kwok" / "clusters" / name / "kwok.yaml").touch()
    (tmp_path / "kwok" / "clusters" / "not-one").mkdir()
    assert words("get clusters") == 0
    assert capfd.readouterr() == ("a\nb\n", "")
    assert runner.calls == []


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("table", "NAME   READY   STATUS\nkwok   0/1     NotReady\n"),
        (
            "wide",
            (
                "NAME   READY   STATUS     RUNTIME   VERSION   CREATED BY\n"
                "kwok   0/1     NotReady   binary    v1.36.3   kwokctl (Python)\n"
            ),
        ),
    ],
)
def test_clusters_are_shown_in_columns(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    output: str,
    text: str,
) -> None:
    runner.answers["cluster_statuses"] = [CLUSTER]
    assert words(f"get clusters -o {output}") == 0
    assert capfd.readouterr().out == text


def test_a_program_gets_clusters_with_their_components(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["cluster_statuses"] = [CLUSTER]
    assert words("get clusters -o=json") == 0
    assert json.loads(capfd.readouterr().out) == [
        {
            "name": "kwok",
            "status": "NotReady",
            "message": "",
            "ready": 0,
            "total": 1,
            "runtime": "binary",
            "kubeVersion": "v1.36.3",
            "maker": "kwokctl (Python)",
            "components": [
                {
                    "name": "etcd",
                    "status": "Stopped",
                    "message": "first line\npanic: no space left\n",
                    "version": "3.6.16",
                    "ports": [{"name": "client", "port": 2379, "hostPort": 32765}],
                    "url": "",
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("name", "etcd\n"),
        ("table", "NAME   STATUS\netcd   Stopped\n"),
        (
            "wide",
            (
                "NAME   STATUS    VERSION   PORTS          MESSAGE\n"
                "etcd   Stopped   3.6.16    client:32765   panic: no space left\n"
            ),
        ),
    ],
)
def test_components_are_shown_in_columns_a_dead_one_with_its_last_line(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    output: str,
    text: str,
) -> None:
    runner.answers["component_statuses"] = [ETCD]
    assert words(f"get components -o {output}") == 0
    assert capfd.readouterr().out == text


def test_of_a_component_with_pages_the_url_is_shown(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["component_statuses"] = [replace(ETCD, url="https://127.0.0.1:9090")]
    assert words("get components -o wide") == 0
    assert "https://127.0.0.1:9090 " in capfd.readouterr().out
    assert words("get components -o json") == 0
    assert json.loads(capfd.readouterr().out)[0]["url"] == "https://127.0.0.1:9090"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            '{"level":"warn","ts":"2026-11-22T09:35:43.6Z","msg":"no lease","error":"disk full"}',
            "no lease: disk full",
        ),
        ('{"level":"info","msg":"closed etcd server"}', "closed etcd server"),
        ('{"level":"info"}', '{"level":"info"}'),
        ('["msg"]', '["msg"]'),
        ("17", "17"),
    ],
)
def test_of_a_log_in_json_the_message_is_shown(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    line: str,
    shown: str,
) -> None:
    runner.answers["component_statuses"] = [replace(ETCD, message=f"first\n{line}\n")]
    assert words("get components -o wide") == 0
    row = capfd.readouterr().out.splitlines()[-1]
    assert row == f"etcd   Stopped   3.6.16    client:32765   {shown}"


async def changes(*batches: list[ComponentStatus]) -> AsyncIterator[list[ComponentStatus]]:
    for batch in batches:
        yield batch


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("table", "NAME   STATUS\netcd   Ready\netcd   Stopped\n"),
        ("name", "etcd\netcd\netcd\n"),
    ],
)
async def test_a_component_that_is_watched_is_shown_again_when_what_is_shown_changes(
    capfd: pytest.CaptureFixture[str], output: str, text: str
) -> None:
    ready, last = replace(ETCD, status=RunStatus.READY), replace(ETCD, message="another")
    await show_changes(changes([ready], [ETCD], [last]), output)
    assert capfd.readouterr().out == text


async def test_a_program_that_watches_gets_one_document_after_the_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    await show_changes(changes([ETCD], [replace(ETCD, status=RunStatus.READY)]), "yaml")
    found = list(yaml.safe_load_all(capfd.readouterr().out))
    assert [each["status"] for each in found] == ["Stopped", "Ready"]


def test_without_clusters_a_program_gets_an_empty_list(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["cluster_statuses"] = []
    assert words("get clusters -o json") == 0
    assert capfd.readouterr() == ("[]\n", "")
    assert words("get clusters -o wide") == 0
    assert capfd.readouterr() == ("", "")
