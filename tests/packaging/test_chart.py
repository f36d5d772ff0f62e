"""The chart, rendered by Helm, and the manifest are the same objects."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.in_cluster.manifest import manifest
from kwokctl.clusters.in_cluster.request import THROUGH_POD, ManifestRequest
from kwokctl.clusters.in_cluster.stages import chosen_stages
from kwokctl.config.kinds import KINDS, KWOK
from kwokctl.expr import yaml
from tests.support.helm import helm

pytestmark = [pytest.mark.packaging, pytest.mark.network, pytest.mark.timeout(1000)]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "kwok"


@pytest.fixture(scope="module")
def program() -> Path:
    return helm()


def rendered(program: Path, *values: str) -> list[Mapping[str, Any]]:
    words: list[str | Path] = [
        program,
        "template",
        "kwok",
        CHART,
        "--namespace",
        "fakes",
        "--include-crds",
    ]
    for value in values:
        words += ["--set", value]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [each for each in yaml.load_all(text) if each]


def wanted(**words: Any) -> list[Mapping[str, Any]]:
    request = ManifestRequest(
        stages=chosen_stages((), ()), custom_kinds=KINDS[KWOK], namespace="fakes", **words
    )
    return [each for each in manifest(request) if each["kind"] != "Namespace"]


def by_name(objects: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str, str], Any]:
    return {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in objects
    }


def test_the_chart_is_the_manifest(program: Path) -> None:
    assert by_name(rendered(program)) == by_name(wanted())


def test_values_do_what_options_do(program: Path) -> None:
    found = rendered(
        program, "replicas=5", "image.repository=here/kwok", "image.tag=7", "steerPods=true",
        "kubeletThrough=pod",
    )  # fmt: skip

    assert by_name(found) == by_name(
        wanted(replicas=5, image="here/kwok:7", steers_pods=True, kubelet_through=THROUGH_POD)
    )


def test_helm_finds_no_fault(program: Path) -> None:
    assert shutil.which(str(program))
    done = subprocess.run([program, "lint", CHART], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
