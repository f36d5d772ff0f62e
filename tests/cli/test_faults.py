"""`fault list` and `fault explain`."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.main import run
from kwokctl.expr import yaml


def out(capfd: pytest.CaptureFixture[str], words: str) -> str:
    assert run(words.split()) == 0
    return capfd.readouterr().out


def test_the_list_shows_layer_scope_and_severity(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in out(capfd, "fault list").splitlines()]

    assert rows[0] == ["NAME", "LAYER", "SCOPE", "SEVERITY", "SUMMARY"]
    assert ["xid-79", "gpu", "device", "fatal", "GPU", "has", "fallen", "off", "the", "bus"] in rows


def test_the_list_is_of_a_dialect_and_a_layer(capfd: pytest.CaptureFixture[str]) -> None:
    assert out(capfd, "fault list --dialect gke -o name") == "maintenance\nspot-reclaim\n"
    assert (
        out(capfd, "fault list --layer nic -o name") == "ib-degraded\nib-link-flap\nib-port-down\n"
    )
    assert out(capfd, "fault list --dialect aks --layer nic -o name") == "ib-link-flap\n"


def test_the_wide_list_says_who_shows_a_fault(capfd: pytest.CaptureFixture[str]) -> None:
    (row,) = [
        line for line in out(capfd, "fault list -o wide").splitlines() if "unreachable" in line
    ]

    assert row.split()[-4:] == ["live", "network", "cause-ends,replace", "none"]


def test_the_list_as_json_has_the_dialects(capfd: pytest.CaptureFixture[str]) -> None:
    found = {each["name"]: each for each in json.loads(out(capfd, "fault list -o json"))}

    assert found["gpu-missing"]["dialects"] == ["aks", "azurehpc", "eks", "device-plugin"]
    assert found["gpu-missing"]["clearedBy"] == ["reboot", "power-cycle", "replace"]


def test_the_list_as_yaml_can_be_given_again(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(out(capfd, "fault list -o yaml"))
    names = out(capfd, "fault list -o name")

    assert out(capfd, f"--config {file} fault list -o name") == names


def test_a_class_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, "fault explain gpu-missing --dialect aks --dialect device-plugin")

    assert text.startswith("gpu-missing: The driver does not find a GPU\n")
    assert (
        "  aks, after 0s to 1m0s\n    condition GPUMissing=True GPUMissing 'Expected to see 8"
        in text
    )
    assert '  allocatable[nvidia.com/gpu]: "8" -> "7"\n' in text
    assert "blind: kubelet\n" in text


def test_the_kubelet_is_on_every_node(capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, "fault explain not-ready --dialect gke")

    assert "condition Ready=False KubeletNotReady 'container runtime is down'" in text
    assert "  kubelet, after 0s to 10s\n" in text


def test_an_explanation_as_json_has_what_the_text_says(capfd: pytest.CaptureFixture[str]) -> None:
    found = json.loads(out(capfd, "fault explain xid-79 --dialect eks -o json"))

    assert found["signals"][0]["latest"] == "15s"
    assert found["changes"][0]["field"] == "conditions[AcceleratedHardwareReady]"
    assert found["blind"] == ["kubelet"]


def test_a_class_as_yaml_can_be_changed_and_given_again(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = yaml.load(out(capfd, "fault explain xid-79 -o yaml"))
    body["metadata"]["name"] = "mine"
    body["spec"]["summary"] = "It is mine"
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.dump(body))

    assert out(capfd, f"--config {file} fault explain mine").startswith("mine: It is mine\n")
    assert out(capfd, f"--config {file} fault list -o name").startswith("mine\nadmission-error\n")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            "fault explain xid-80",
            "there is no class of faults called 'xid-80'",
            "did you mean 'xid-",
        ),
        (
            "fault explain xid-79 --dialect asks",
            "no dialect of faults called 'asks'",
            "did you mean 'aks'?",
        ),
        ("fault list --dialect asks", "no dialect of faults called 'asks'", "did you mean 'aks'?"),
        ("fault list --layer gpuu", "'--layer' is 'gpuu'", "choose from: gpu, gpu-software"),
    ],
)
def test_a_wrong_word_is_named(
    capfd: pytest.CaptureFixture[str], words: str, message: str, hint: str
) -> None:
    assert run(words.split()) == 2
    errors = capfd.readouterr().err
    assert message in errors
    assert hint in errors
