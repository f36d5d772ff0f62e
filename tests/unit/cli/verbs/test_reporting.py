"""Where the reports on several runs are written."""

from pathlib import Path

import pytest

from kwokctl.cli.verbs.measuring.reporting import emit_sheet
from kwokctl.measure.reports.sheets import Sheet
from kwokctl.replacing import replace
from tests.unit.measure.repeating.test_repeated import reported

WHOLE = Sheet(title="whole", remarks=(), tables=(), lists=(), cases=(), headings=(), rows=())
SUMMARY = replace(WHOLE, title="summary")


@pytest.mark.parametrize(("output", "shown"), [("summary", "summary\n"), ("text", "whole\n")])
def test_only_the_terminal_gets_the_summary(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], output: str, shown: str
) -> None:
    file = tmp_path / "report.txt"

    emit_sheet(reported(), WHOLE, [str(file)], output, SUMMARY)

    assert capfd.readouterr().out == shown
    assert file.read_text("utf-8") == "whole\n"
