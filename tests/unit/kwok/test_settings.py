from pathlib import Path

import pytest

from kwokctl.errors import UsageError
from kwokctl.kwok.settings import KwokSettings, read_kwok_settings
from kwokctl.progress import Silent

ALL = "--manage-all-nodes"
CONFIGURATION = """
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageNodesWithAnnotationSelector: kwok.x-k8s.io/node=fake
  nodePort: 10247
  nodeLeaseDurationSeconds: 40
  enableCRDs: [Stage, Logs]
  enableProfilingHandler: true
"""
GONE = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: gone}
spec:
  resourceRef: {kind: Pod}
  selector: {}
  steps: [{delete: true}]
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KWOK_WORKDIR", raising=False)
    return tmp_path


def read(*flags: str) -> KwokSettings:
    return read_kwok_settings(flags, Silent())


def stages(settings: KwokSettings) -> list[str]:
    return [stage.name for stage in settings.controller.stages]


def test_without_stages_the_usual_ones_are_played() -> None:
    assert "pod-ready" in stages(read(ALL))
    assert "node-heartbeat" in stages(read(ALL))
    assert "node-heartbeat-with-lease" in stages(read(ALL, "--node-lease-duration-seconds=40"))


def test_pods_that_live_as_on_a_kubelet_get_no_stages() -> None:
    assert {stage.kind.name for stage in read(ALL, "--pods=kubelet").controller.stages} == {"Node"}


def test_stages_of_files_and_of_the_cluster_are_played_alone(home: Path) -> None:
    (home / "mine.yaml").write_text(GONE)

    assert stages(read(ALL, f"--config={home / 'mine.yaml'}")) == ["gone"]
    assert stages(read(ALL, "--enable-crds=Stage")) == []


def test_the_users_own_file_comes_first(home: Path) -> None:
    (home / ".kwok").mkdir()
    (home / ".kwok" / "kwok.yaml").write_text(CONFIGURATION)

    found = read("--node-port=10250")

    assert found.kubelet is not None
    assert found.kubelet.port == 10250
    assert found.controller.lease_seconds == 40
    assert found.controller.custom_kinds == {"Stage"}
    assert found.kubelet.custom_kinds == {"Logs"}
    assert found.kubelet.profiling


def test_one_server_answers_for_both(home: Path) -> None:
    found = read(ALL, "--server-address=127.0.0.1:10247", "--tls-cert-file=a.crt",
                 "--tls-private-key-file=a.key")  # fmt: skip

    assert found.controller.server is None
    assert found.kubelet is not None
    assert (found.kubelet.hosts, found.kubelet.port) == (("127.0.0.1",), 10247)
    assert found.kubelet.tls is not None
    assert found.kubelet.tls.certificate == Path("a.crt")
    assert not found.kubelet.profiling


def test_without_port_and_address_nothing_is_served() -> None:
    assert read(ALL).kubelet is None


def test_a_certificate_without_its_key_is_refused() -> None:
    with pytest.raises(UsageError, match="needs its key"):
        read(ALL, "--node-port=10247", "--tls-cert-file=a.crt")


def test_nodes_must_be_chosen() -> None:
    with pytest.raises(UsageError, match="no nodes are managed"):
        read("--node-port=10247")


@pytest.mark.parametrize(
    "flag",
    [
        "--tracing-endpoint=127.0.0.1:4317",
        "--tracing-sampling-rate-per-million=1",
        "--server-token-file=token",
    ],
)
def test_a_flag_without_effect_is_refused_by_name_with_a_remedy(flag: str) -> None:
    with pytest.raises(UsageError, match=flag.partition("=")[0]) as caught:
        read(ALL, flag)

    assert "leave it out" in str(caught.value.hint)
