from pathlib import Path

import pytest

from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.state.scheduler_config import check_scheduler_config, write_scheduler_config
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ClusterName
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options

FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /elsewhere, qps: 7}
leaderElection: {leaderElect: true}
profiles: [{schedulerName: mine}]
extenders: [{urlPrefix: "https://x", tlsConfig: {caFile: ca.crt}}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(FILE)
    return path


def test_the_cluster_s_copy_has_the_cluster_s_paths(file: Path, tmp_path: Path) -> None:
    paths = ClusterPaths(tmp_path / "cluster")
    options = cluster_options(kube_scheduler_config=str(file))
    saved = Saved(name=ClusterName("dev"), options=options, names=(), artifacts={}, stages=())

    write_scheduler_config(saved.setting(FakeRuntime(), paths))
    file.unlink()
    write_scheduler_config(saved.setting(FakeRuntime(), paths))

    assert yaml.load(paths.scheduler_config.read_text()) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            "qps": 7,
            "burst": 10000,
            "kubeconfig": str(paths.root / "kubeconfigs" / "kube-scheduler.yaml"),
        },
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": "mine"}],
        "extenders": [
            {"urlPrefix": "https://x", "tlsConfig": {"caFile": str(tmp_path / "ca.crt")}}
        ],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: Other", "is not a KubeSchedulerConfiguration"),
        ("kind: KubeSchedulerConfiguration\napiVersion: v1beta3", "apiVersion is 'v1beta3', not"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_a_file_that_is_no_configuration_of_the_scheduler_is_refused(
    file: Path, text: str, said: str
) -> None:
    file.write_text(text)

    with pytest.raises(ConfigError) as caught:
        check_scheduler_config(cluster_options(kube_scheduler_config=str(file)))

    assert said in str(caught.value)
