"""`fault list`."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.main import run


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


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
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
