"""`controller manifest`: what its options do to the objects, and which it refuses."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

Words = Callable[[str], int]
Capture = pytest.CaptureFixture[str]


def deployment(text: str) -> Any:
    found = yaml.load_all(text, Loader=yaml.CSafeLoader)
    return next(each for each in found if each["kind"] == "Deployment")["spec"]


@pytest.mark.parametrize(
    ("options", "replicas", "memory"),
    [
        ("", 1, "1Gi"),
        ("--nodes 20000", 2, "1088Mi"),
        ("--nodes 20000 --pods 400000", 2, "1856Mi"),
        ("--nodes 20000 --replicas 3", 3, "1088Mi"),
    ],
)
def test_replicas_and_memory_are_chosen_by_the_size_of_the_fleet_but_replicas_that_are_given_win(
    words: Words, capfd: Capture, options: str, replicas: int, memory: str
) -> None:
    assert words(f"controller manifest {options}") == 0

    found = deployment(capfd.readouterr().out)
    [container] = found["template"]["spec"]["containers"]
    assert found["replicas"] == replicas
    assert container["resources"]["limits"]["memory"] == memory


def test_pods_are_steered_by_the_version_that_is_given(words: Words, capfd: Capture) -> None:
    assert words("controller manifest --steer-pods --steering-version v1beta1") == 0

    assert "apiVersion: admissionregistration.k8s.io/v1beta1" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("--pods 5", "'--pods' needs '--nodes'"),
        ("--steering-version v1", "'--steering-version' needs '--steer-pods'"),
    ],
)
def test_an_option_that_only_another_one_gives_an_effect_is_refused_without_it(
    words: Words, capfd: Capture, options: str, fault: str
) -> None:
    assert words(f"controller manifest {options}") == 2

    assert fault in capfd.readouterr().err
