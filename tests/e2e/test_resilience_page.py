"""`docs/how-to/test-the-resilience-of-a-fleet.md`: every command of it, in its order, shows what the page shows."""

from pathlib import Path

import pytest

from tests.support.console_page import console_steps, run_steps
from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(1200, func_only=True)]

PAGE = Path(__file__).parents[2] / "docs/how-to/test-the-resilience-of-a-fleet.md"


def test_what_the_page_breaks_is_broken_and_undone(installed: Installed, tmp_path: Path) -> None:
    steps = console_steps(PAGE)
    assert len(steps) >= 80

    outputs = run_steps(steps, tmp_path, installed.environment, 1100)

    lacks = {
        step.command: missing
        for step, output in zip(steps, outputs, strict=True)
        if (missing := step.lacks(output))
    }
    assert not lacks, dict(zip((step.command for step in steps), outputs, strict=True))
    # The page cleans up after itself.
    assert installed.ok("get", "clusters") == ""


def test_no_fault_of_the_page_is_made_by_hand() -> None:
    commands = [step.command for step in console_steps(PAGE)]

    assert not [each for each in commands if "kubectl patch" in each or "annotate" in each]
    labels = [each for each in commands if "kubectl label" in each]
    assert all("node-not-ready.stage.kwok.x-k8s.io" in each for each in labels)
