"""The Stages that are shown to people who write their own."""

from pathlib import Path

import pytest

from kwokctl.clusters.stage_tools.cases import run_cases
from kwokctl.clusters.stage_tools.linting.lint import lint
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.config.config_documents import load_documents
from tests.support.options import cluster_options

FOLDER = Path(__file__).parents[4] / "examples" / "stages"


def test_the_examples_do_what_their_tests_expect() -> None:
    results = run_cases(FOLDER, [])

    assert [each.difference or each.name for each in results if each.state != "passed"] == []
    assert len(results) >= 8


def test_nothing_is_wrong_with_the_examples_and_the_shipped_stages() -> None:
    assert lint([str(FOLDER)]) == []
    shipped = FOLDER.parents[1] / "templates" / "stages"
    files = [file for file in shipped.rglob("*-*.yaml") if "general" not in str(file)]
    assert lint([str(file) for file in files]) == []


@pytest.mark.parametrize(
    ("name", "displaced"),
    [
        ("crash-loop", []),
        ("slow-start", ["pod-ready"]),
        ("failing-device", []),
        ("sleeping-job", ["pod-complete"]),
    ],
)
def test_an_example_replaces_the_usual_stages_that_its_page_lists(
    name: str, displaced: list[str]
) -> None:
    documents = load_documents([str(FOLDER / f"{name}.yaml")])

    assert list(stages_in_force(cluster_options(), documents).displaced) == displaced
