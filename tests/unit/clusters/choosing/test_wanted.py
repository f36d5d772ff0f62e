from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.choosing.wanted import check_for_runtime, wanted_cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.config.documents import Document
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConfigError, NotServedError, UsageError
from kwokctl.host.paths import WorkDir
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options

NAME = cluster_name("dev")


def stage(**spec: Any) -> dict[str, Any]:
    """Write a Stage for pods."""
    whole = {"resourceRef": {"kind": "Pod"}, **spec}
    return {"kind": "Stage", "metadata": {"name": "x"}, "spec": whole}


def check(folder: Path, *documents: dict[str, Any], **options: Any) -> None:
    home = Home(workdir=WorkDir(folder), cache=folder)
    resolved = Resolved(options=cluster_options(**options), chosen=frozenset(options), warnings=())
    read = [
        Document(kind=body["kind"], api_version="", name="x", body=body, source="mine.yaml")
        for body in documents
    ]
    wanted_cluster(home, resolved, read)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"disable": ("etcd",)}, "cannot be without 'etcd'"),
        ({"extra_args": ("nonsense",)}, "is not COMPONENT=KEY=VALUE"),
        ({"memory_limit": ("much",)}, "is not a limit"),
        ({"cpu_limit": ("٣",)}, "is not a limit"),
        ({"cpu_limit": ("1e999",)}, "is not a limit"),
        ({"runtime": "banana"}, "no runtime called 'banana'"),
        ({"runtime": "lima"}, "'lima' is not supported yet"),
        ({"node_heartbeat": "off", "heartbeat_factor": 3}, "contradict each other"),
    ],
)
def test_a_request_that_no_cluster_can_fulfil_is_refused(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        check(tmp_path, **options)


def test_documents_with_which_the_controller_would_not_start_are_refused(tmp_path: Path) -> None:
    cel = {"matchExpressions": [{"cel": {"expression": "true"}}]}
    with pytest.raises(NotServedError, match="CEL"):
        check(tmp_path, stage(selector=cel, next={"delete": True}))
    with pytest.raises(ConfigError, match=r"mine\.yaml: stage 'x': 'spec\.steps' is empty"):
        check(tmp_path, stage())


def test_limits_are_for_containers_whether_or_not_the_cluster_exists() -> None:
    with pytest.raises(UsageError, match="have no limits"):
        check_for_runtime(FakeRuntime(), NAME, cluster_options(memory_limit=("1Gi",)), [])
