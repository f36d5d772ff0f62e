"""The page of a run with a real cluster: its figures are those of the JSON report, and the faults of the run are in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.measure.pages.page_data import FleetItem, PageData, WaterfallItem
from tests.support.installed import Installed
from tests.support.measured_runs import run_measure
from tests.support.pages import document_of, items_of, numbers_of_page

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: training}
spec:
  parallelism: 3
  completions: 3
  template:
    metadata: {annotations: {kwokctl.dev/program: run=2s}}
    spec:
      restartPolicy: Never
      containers:
      - {name: x, image: x, resources: {limits: {nvidia.com/gpu: 8}}}
"""
# To validate it, a kubectl would have the API server make its OpenAPI documents.
SCRIPT = """\
set -e
kubectl create --validate=false -f job.yaml
kwokctl fault inject not-ready --count 1 --seed 1 --wait 2m
kubectl wait --for=condition=complete --timeout=120s job/training
kwokctl fault clear --all
"""


@pytest.fixture(scope="module")
def fleet(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok("scale", "dgx-h100", "--replicas", "8", "--wait")
    return as_on_kubelets


@pytest.fixture(scope="module")
def written(fleet: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the page and the JSON report of a run in which the first fault is injected."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "job.yaml").write_text(JOB)
    script = folder / "run.sh"
    script.write_text(f"cd {folder}\n{SCRIPT}")
    reports = ("--report", f"{folder}/run.html", "--report", f"{folder}/run.json")
    record = ("--record", f"{folder}/run.jsonl.gz")
    run_measure(fleet, *record, *reports, "--allow-undrained", "--", "sh", str(script))
    return folder


@pytest.fixture(scope="module")
def page(written: Path) -> PageData:
    return document_of((written / "run.html").read_text("utf-8"))


def test_the_numbers_of_the_page_are_those_of_the_json_report(
    written: Path, page: PageData
) -> None:
    figures: dict[str, Any] = json.loads((written / "run.json").read_text())["figures"]
    shown = numbers_of_page(page)

    p99 = figures["pods.created_to_bound"]["value"]["p99"]
    assert float(shown["pods.created_to_bound.p99"][0]) == p99
    assert shown["jobs.done"][0] == "1"
    assert "nvidia.com/gpu requested, mean" in {each.name for each in page.headline}


def test_a_fault_that_was_injected_while_it_was_measured_is_a_band(page: PageData) -> None:
    (band,) = page.bands

    assert band.name.startswith("not-ready, 1 unit (not-ready-")
    assert band.end is not None
    assert 0 < band.start < band.end


def test_the_map_has_the_racks_and_shows_the_node_that_was_not_ready(page: PageData) -> None:
    item = items_of(page)["fleet-map"]
    assert isinstance(item, FleetItem)

    assert [len(group.nodes) for group in item.groups] == [4, 4]
    codes = {code for frame in item.frames for _, code in frame.changes}
    assert {"x", "f", "i"} <= codes


def test_the_waterfall_has_the_job_from_its_queue_to_its_end(page: PageData) -> None:
    item = items_of(page)["waterfall"]
    assert isinstance(item, WaterfallItem)
    (row,) = item.rows

    assert row.name == "default/training"
    phases = [item.phases[phase].name for phase, _, _ in row.spans]
    assert phases == ["queued", "starting", "running", "done"]


def test_every_pod_stands_beside_the_page(written: Path) -> None:
    rows = (written / "run.pods.csv").read_text().splitlines()

    assert sum("Job/training" in row for row in rows) >= 3


def test_the_record_makes_the_same_page_again(
    fleet: Installed, written: Path, page: PageData
) -> None:
    again = document_of(
        run_measure(fleet, str(written / "run.jsonl.gz"), "-o", "html", "--allow-undrained").out
    )

    assert numbers_of_page(again) == numbers_of_page(page)
    assert again.bands == page.bands
