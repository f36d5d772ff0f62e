"""The list of conditions for deciding again is complete, and nothing in it is forgotten."""

import re
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs/adr"
CONDITION = re.compile(
    r"\b[Gg]o back\b|\bthink again\b|thought about again|worth another look|^Take .* when|^When SPDY|^When a release",
    re.MULTILINE,
)


def conditions() -> list[tuple[str, str]]:
    """Return the file of the record and the last cell of each row of the list."""
    page = (RECORDS / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \[\d+\]\((\S+\.md)\).* \| ([^|]+) \|$", page, re.MULTILINE)


def last_release() -> date:
    """Return the date of the newest release in the changelog."""
    newest = re.search(
        r"^## \d+\.\d+\.\d+ - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert newest
    return date.fromisoformat(newest[1])


def test_every_record_with_a_condition_for_deciding_again_is_in_the_list() -> None:
    found = {r.name for r in RECORDS.glob("0*.md") if CONDITION.search(r.read_text("utf-8"))}

    assert found
    assert found <= {record for record, _ in conditions()}


def test_every_condition_has_a_test_or_was_looked_at_before_the_last_release() -> None:
    looked_at = [cell.strip() for _, cell in conditions()]
    tests = [cell.strip("`") for cell in looked_at if cell.startswith("`")]
    dates = [date.fromisoformat(cell) for cell in looked_at if not cell.startswith("`")]

    assert [test for test in tests if not (ROOT / test).is_file()] == []
    overdue = [day for day in dates if day < last_release()]
    assert overdue == [], (
        "look whether these conditions of docs/adr/README.md are met, and enter new dates"
    )
