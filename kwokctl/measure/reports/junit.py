"""A report as JUnit: a case for each assertion, and one for the run itself."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from kwokctl.measure.reports.judged import assertion_text, subject
from kwokctl.measure.reports.report import RunReport

_OWN_CASE = "the run is valid and came to its end"
_UNPRINTABLE = {code: "?" for code in range(32) if chr(code) not in "\t\n\r"}
"""Characters that XML cannot hold (https://www.w3.org/TR/xml/#charsets)."""


def junit_of(report: RunReport) -> str:
    """Write a report."""
    when = f'time="{report.seconds:.3f}" timestamp={quoteattr(report.wall[:19])}'
    return suite([*_cases(report)], subject(report), when)


def suite(cases: Sequence[tuple[str, str]], about: str, attributes: str = "") -> str:
    """Write cases, each a name and why it failed, which is empty for those that did not."""
    failures = sum(bool(failure) for _, failure in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="kwokctl measure" {f"{counts} {attributes}".strip()}>',
        *(line for name, failure in cases for line in _case(name, failure)),
        f"  <system-out>{_text(about)}</system-out>",
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _cases(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield the name of each case, and why it failed, if it did."""
    own = [each for each in report.verdict.problems if not each.endswith("assertions failed")]
    yield _OWN_CASE, "; ".join(own)
    for each in report.assertions:
        yield each.assertion, "" if each.passed else assertion_text(each)


def _case(name: str, failure: str) -> Iterator[str]:
    head = f'  <testcase classname="kwokctl.measure" name={quoteattr(_clean(name))}'
    if not failure:
        yield f"{head}/>"
        return
    yield f"{head}>"
    yield f"    <failure message={quoteattr(_clean(failure))}/>"
    yield "  </testcase>"


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    return text.translate(_UNPRINTABLE)
