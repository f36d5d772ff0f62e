"""The page that is made from the commands themselves."""

import subprocess
import sys
from pathlib import Path

import pytest

from kwokctl.config.options import spellings

ROOT = Path(__file__).parents[2]
_PROGRAM = "import sys; sys.path.insert(0, 'docs'); import generate_cli; print(generate_cli.reference())"  # fmt: skip


def page(columns: str) -> str:
    """Return the page as it is made in a terminal of this width."""
    program = [sys.executable, "-c", _PROGRAM]
    return subprocess.run(
        program, cwd=ROOT, env={"COLUMNS": columns}, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def wide() -> str:
    return page("200")


def test_the_page_does_not_depend_on_the_terminal(wide: str) -> None:
    assert page("40") == wide


def test_every_way_to_give_an_option_is_on_the_page(wide: str) -> None:
    for spelling in spellings():
        for written in (spelling.env, spelling.key):
            assert not written or f"`{written}`" in wide
        name = spelling.flag.removeprefix("--")
        assert f"`--{name}" in wide or f"`--[no-]{name}" in wide


@pytest.mark.parametrize(
    "command", ["create cluster", "get kubeconfig", "scale", "snapshot restore", "kubectl"]
)
def test_every_command_has_its_section(wide: str, command: str) -> None:
    assert f"## `kwokctl {command}`" in wide


def test_no_table_has_a_row_of_another_width(wide: str) -> None:
    widths: list[int] = []
    for line in wide.splitlines():
        if not line.startswith("|"):
            widths.clear()
            continue
        widths.append(line.replace("\\|", "").count("|"))
        assert widths[0] == widths[-1], line
