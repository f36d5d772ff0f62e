import json
from pathlib import Path

import pytest

from kwokctl.clusters.in_cluster.config_map import chosen_stages
from kwokctl.controller.settings import Settings, read_settings
from kwokctl.errors import ConfigError, UsageError
from kwokctl.progress import Silent
from tests.support.recorded_messages import RecordedMessages

STAGE = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: gone}
spec:
  resourceRef: {kind: Pod}
  selector: {}
  steps: [{delete: true}]
"""


def read(folder: Path, *flags: str, text: str = STAGE) -> Settings:
    path = folder / "kwok.yaml"
    path.write_text(text)
    return read_settings([f"--config={path}", *flags], Silent())


def test_flags_of_the_original_are_understood(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "--kubeconfig=/k",
        "--manage-all-nodes=true",
        "--cidr=10.9.0.0/16",
        "--node-ip=192.0.2.9",
        "--node-name=localhost",
        "--node-port=10250",
        "--server-address=127.0.0.1:10247",
        "--node-lease-duration-seconds=40",
        "--tls-cert-file=a",
        "--tls-private-key-file=b",
        "--v=4",
    )

    assert settings.kubeconfig == Path("/k")
    assert settings.cidr == "10.9.0.0/16"
    assert (settings.kubelet.ip, settings.kubelet.name, settings.kubelet.port) == (
        "192.0.2.9",
        "localhost",
        10250,
    )
    assert settings.server == ("127.0.0.1", 10247)
    assert settings.lease_seconds == 40
    assert settings.verbosity == 4
    assert [stage.name for stage in settings.stages] == ["gone"]


def test_a_node_port_alone_makes_a_server_on_all_addresses(tmp_path: Path) -> None:
    assert read(tmp_path, "--manage-all-nodes", "--node-port=10247").server == ("0.0.0.0", 10247)


def test_without_port_and_address_there_is_no_server(tmp_path: Path) -> None:
    assert read(tmp_path, "--manage-all-nodes").server is None


def test_options_of_a_document_count_and_flags_win(tmp_path: Path) -> None:
    options = """
---
kind: KwokConfiguration
apiVersion: config.kwok.x-k8s.io/v1alpha1
options:
  manageAllNodes: true
  cidr: 10.1.0.0/24
  nodeIP: 192.0.2.1
  podPlayStageParallelism: 7
  enableProfilingHandler: false
"""
    settings = read(tmp_path, "--cidr=10.2.0.0/24", text=STAGE + options)

    assert settings.cidr == "10.2.0.0/24"
    assert settings.kubelet.ip == "192.0.2.1"
    assert settings.parallelism.pods == 7
    assert settings.parallelism.nodes == 64


@pytest.mark.parametrize(
    ("option", "problem"),
    [("cidrs: x", "options.cidrs"), ("nodePort: text", "options.nodePort"), ("cidr: 1", "cidr")],
)
def test_a_wrong_option_is_named(tmp_path: Path, option: str, problem: str) -> None:
    text = f"{STAGE}\n---\nkind: KwokConfiguration\noptions:\n  {option}\n"

    with pytest.raises(ConfigError, match=problem):
        read(tmp_path, "--manage-all-nodes", text=text)


def test_without_a_stage_nothing_would_happen_and_that_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Stage"):
        read(tmp_path, "--manage-all-nodes", text="kind: KwokctlConfiguration\n")


def test_no_nodes_and_two_ways_of_choosing_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no nodes are managed"):
        read(tmp_path)
    with pytest.raises(UsageError, match="exclude each other"):
        read(tmp_path, "--manage-all-nodes", "--manage-single-node=n")


def test_stages_may_be_custom_resources_and_other_kinds_are_the_kubelet_servers(
    tmp_path: Path,
) -> None:
    enabled = read(tmp_path, "--manage-all-nodes", "--enable-crds=Stage", text="")
    assert enabled.custom_kinds == {"Stage"}
    assert not enabled.stages
    text = "kind: KwokConfiguration\noptions: {manageAllNodes: true, enableCRDs: [Stage]}\n"
    assert read(tmp_path, text=text).custom_kinds == {"Stage"}

    several = read(tmp_path, "--manage-all-nodes", "--enable-crds=Stage,Logs")
    assert several.custom_kinds == {"Stage"}
    with pytest.raises(UsageError, match="'Stages' cannot be enabled"):
        read(tmp_path, "--manage-all-nodes", "--enable-crds=Stages")


def test_stages_beside_pods_as_on_a_kubelet_are_for_pods_with_an_annotation(
    tmp_path: Path,
) -> None:
    path, progress = tmp_path / "kwok.yaml", RecordedMessages()
    bodies = chosen_stages(("pod-kubelet", "pod-chaos"), ())
    path.write_text("\n---\n".join(map(json.dumps, bodies)))
    words = [f"--config={path}", "--manage-all-nodes", "--pods=kubelet"]
    settings = read_settings(words, progress)

    assert settings.has_kubelet_pods
    assert "pod-container-running-failed" in {stage.name for stage in settings.stages}
    [note] = progress.lines
    assert "'kwokctl.dev/life: stages' alone: pod-container-running-failed" in note


def test_pods_as_on_a_kubelet_need_no_stage_at_all(tmp_path: Path) -> None:
    settings = read(tmp_path, "--manage-all-nodes", "--pods=kubelet", text="")

    assert not settings.stages


def test_an_unknown_flag_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--no-such-flag"):
        read(tmp_path, "--manage-all-nodes", "--no-such-flag")


@pytest.mark.parametrize(
    ("text", "level"),
    [("4", 4), ("-4", -4), ("debug", 4), ("INFO", 0), ("info+2", 2), ("warn", -1)],
)
def test_a_log_level_is_a_number_or_a_name(tmp_path: Path, text: str, level: int) -> None:
    assert read(tmp_path, "--manage-all-nodes", f"--v={text}").verbosity == level


@pytest.mark.parametrize(
    "flags", [["--v=loud"], ["--manage-all-nodes=maybe"], ["--node-port=http"]]
)
def test_a_flag_with_a_wrong_value_is_wrong_usage(tmp_path: Path, flags: list[str]) -> None:
    with pytest.raises(UsageError):
        read(tmp_path, *flags)


def test_an_option_that_is_empty_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    text = f"{STAGE}\n---\nkind: KwokConfiguration\noptions: {{cidr: null, enableCRDs: null}}\n"

    assert read(tmp_path, "--manage-all-nodes=True", text=text).cidr == "10.0.0.0/24"
    assert read(tmp_path, "--manage-all-nodes=0", "--manage-single-node=n").selection.node_name


@pytest.mark.parametrize(
    "flags",
    [
        ["--cidr=banana"],
        ["--node-port=٣"],
        ["--node-port=70000"],
        ["--node-ip=here"],
        ["--manage-nodes-with-label-selector=a=b=c"],
        ["--v=٣"],
    ],
)
def test_a_flag_is_checked_as_an_option_of_a_document_is(tmp_path: Path, flags: list[str]) -> None:
    with pytest.raises(UsageError):
        read(tmp_path, "--manage-all-nodes", *flags)


@pytest.mark.parametrize(
    ("flags", "shares"),
    [
        (["--manage-all-nodes"], False),
        (["--manage-all-nodes", "--node-lease-duration-seconds=40"], True),
        (["--manage-single-node=n", "--node-lease-duration-seconds=40"], False),
        (["--manage-all-nodes", "--node-lease-duration-seconds=40", "--holder-identity=me"], False),
        (
            [
                "--manage-all-nodes",
                "--node-lease-duration-seconds=40",
                "--holder-identity=me",
                "--share-nodes",
            ],
            True,
        ),
        (
            ["--manage-all-nodes", "--node-lease-duration-seconds=40", "--share-nodes=false"],
            False,
        ),
    ],
)
def test_nodes_are_shared_where_leases_say_which_controller_has_which(
    tmp_path: Path, flags: list[str], *, shares: bool
) -> None:
    assert read(tmp_path, *flags).shares is shares


def test_without_leases_nodes_cannot_be_shared(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--share-nodes needs leases"):
        read(tmp_path, "--manage-all-nodes", "--share-nodes")


def test_leases_held_as_kubelets_do_do_not_say_whose_they_are(tmp_path: Path) -> None:
    leases = ("--node-lease-duration-seconds=40", "--holder-identity={node}")
    with pytest.raises(UsageError, match="does not say which controller has which node"):
        read(tmp_path, "--manage-all-nodes", *leases, "--share-nodes")
    assert not read(tmp_path, "--manage-all-nodes", *leases).shares


def test_dialects_of_faults_must_be_known(tmp_path: Path) -> None:
    given = read(tmp_path, "--manage-all-nodes", "--fault-dialects=aks,device-plugin")
    assert given.fault_dialects == ("aks", "device-plugin")
    assert read(tmp_path, "--manage-all-nodes").fault_dialects == ()
    with pytest.raises(UsageError, match="'--fault-dialects' is 'akz', no dialect") as refused:
        read(tmp_path, "--manage-all-nodes", "--fault-dialects=aks,akz")
    assert "aks" in (refused.value.hint or "")
