"""Generated templates, rendered in every way that there is: what comes out is what Go gives.

The golden file has the answers for some of them. Where Go is installed, others are generated, the
same each time unless a seed is given, and Go renders them, too; a failure names the seed.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import go_programs, template_cases
from tests.support.template_answers import difference

TESTS = Path(__file__).parents[3]
GOLDEN = json.loads((TESTS / "golden" / "templates.json").read_text("utf-8"))
TOGETHER = 100
"""Cases of a test: one for each would take longer to run than to render."""
FRESH = 300
SEED = "KWOKCTL_TEMPLATE_SEED"
"""Variable for another seed. Among some ten thousand templates one still differs, in how YAML quotes."""


@pytest.mark.parametrize("first", range(0, len(GOLDEN["cases"]), TOGETHER))
def test_a_template_gives_what_go_gives_by_every_way(first: int) -> None:
    assert differences(GOLDEN["cases"][first : first + TOGETHER], GOLDEN["data"]) == {}


def differences(cases: Sequence[dict[str, Any]], data: Any) -> dict[str, str]:
    """Return the templates of which something else comes out, and what."""
    found = {case["text"]: difference(case, data) for case in cases}
    return {text: how for text, how in found.items() if how is not None}


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that asks Go, built from the modules in Go's cache."""
    return go_programs.built("gotemplate_oracle", tmp_path_factory.mktemp("oracle"))


@pytest.mark.timeout(300)
def test_fresh_templates_give_what_go_gives(oracle: Path, tmp_path: Path) -> None:
    seed = int(os.environ.get(SEED, "1"))
    path = tmp_path / "templates.json"
    template_cases.main(FRESH, seed, path)
    subprocess.run([oracle, "templates", path], check=True, timeout=120)

    golden = json.loads(path.read_text("utf-8"))
    assert len({case["text"] for case in golden["cases"]}) > FRESH // 2
    again = f"python tests/support/template_cases.py {FRESH} {seed} FILE"
    assert differences(golden["cases"], golden["data"]) == {}, again
