from pathlib import Path

import pytest

from kwokctl.errors import ConfigError, UsageError
from kwokctl.kwok.settings import KwokSettings, read_kwok_settings
from kwokctl.progress import Silent
from tests.support.recorded_messages import RecordedMessages

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


def test_only_one_that_shares_nodes_gives_way_to_another_on_its_port() -> None:
    port, leases = "--node-port=10247", "--node-lease-duration-seconds=40"
    found = [read(ALL, port, leases), read(ALL, port, leases, "--holder-identity=me")]

    assert [each.kubelet.gives_way for each in found if each.kubelet] == [True, False]


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
        "--fleet-metrics=https://localhost",
        "--etcd-endpoint=unix:a.sock",
        "--etcd-cafile=ca.crt",
        "--etcd-certfile=a.crt",
        "--etcd-keyfile=a.key",
        "--etcd-prefix=/other",
        "--managed-fields=false",
        "--tls-cert-file=a.crt",
        "--tls-private-key-file=a.key",
        "--client-ca-file=ca.crt",
        "--anonymous-auth",
        "--authorization-mode=AlwaysAllow",
        "--enable-crds=Stage,Logs",
        "--holder-identity=me",
    ],
)
def test_a_flag_without_effect_is_refused_by_name_with_a_remedy(flag: str) -> None:
    with pytest.raises(UsageError, match=flag.partition("=")[0]) as caught:
        read(ALL, flag)

    assert "leave it out" in str(caught.value.hint)


@pytest.mark.parametrize(
    "flags",
    [
        ("--data-path=auto", "--etcd-endpoint=unix:a.sock", "--managed-fields=false"),
        ("--node-port=10247", "--anonymous-auth", "--enable-crds=Stage,Logs"),
        ("--server-address=:10247", "--client-ca-file=ca.crt"),
        ("--node-lease-duration-seconds=40", "--holder-identity=me"),
        ("--managed-fields=true", "--anonymous-auth=false"),
    ],
)
def test_a_flag_is_taken_with_what_it_needs_and_if_it_says_what_holds_anyway(
    flags: tuple[str, ...],
) -> None:
    read(ALL, *flags)


def test_what_a_file_gives_a_server_is_named_where_nothing_is_served(home: Path) -> None:
    file = home / "mine.yaml"
    file.write_text(CONFIGURATION.replace("10247", "0"))
    progress = RecordedMessages()

    read_kwok_settings([f"--config={file}"], progress)

    assert "nothing is served, so that these have no effect: Logs" in progress.lines


def test_tracing_is_refused_in_a_document_as_its_flag_is(home: Path) -> None:
    (home / "mine.yaml").write_text(CONFIGURATION + "tracing: {endpoint: '127.0.0.1:4317'}\n")

    with pytest.raises(ConfigError, match=r"mine.yaml.*'tracing' is not supported"):
        read(f"--config={home / 'mine.yaml'}")
