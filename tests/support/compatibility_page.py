"""The page of compatibility, as its tests read it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/compatibility.md"
SERVED = {"same", "better", "in part", "other default"}


def titles() -> list[str]:
    """Return the titles of the parts."""
    return re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


def part(title: str) -> str:
    """Return the text of a part."""
    return PAGE.read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[tuple[str, ...]]:
    """Return the rows of the table of a part, without code marks."""
    lines = [line for line in part(title).splitlines() if line.startswith("|")][2:]
    return [
        tuple(re.fullmatch(r"`?(.*?)`?", cell.strip())[1] for cell in line.split("|")[1:-1])  # type: ignore[index]  # it matches everything
        for line in lines
    ]


def has_test(node: str) -> bool:
    """Return whether there is a test of this name: `tests/x.py::test_y`."""
    file, _, name = node.partition("::")
    path = ROOT / file
    text = path.read_text("utf-8") if path.is_file() else ""
    return re.search(rf"^(async )?def {re.escape(name)}\(", text, re.MULTILINE) is not None
