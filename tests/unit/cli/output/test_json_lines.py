import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from kwokctl.cli.output.failures import report
from kwokctl.cli.output.json_lines import JsonLines
from kwokctl.errors import UsageError
from tests.support.streams import Awaited

AT = "2026-11-24T07:00:00+00:00"


def console(stream: io.StringIO, **more: Any) -> JsonLines:
    clock = iter([0.0, 1.5, 2.0, 3.0]).__next__
    return JsonLines(stream, now=lambda: datetime(2026, 11, 24, 7, tzinfo=UTC), clock=clock, **more)


def logged(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_notes_warnings_and_errors_are_lines_with_a_level() -> None:
    stream = io.StringIO()
    shown = console(stream)

    shown.note("a")
    shown.warn("b \x1b[2J")
    shown.line()
    report([UsageError("c", hint="d")], shown, as_json=False)

    usual = {"time": AT, "source": "kwokctl"}
    assert logged(stream) == [
        {**usual, "level": "INFO", "msg": "a"},
        {**usual, "level": "WARN", "msg": "b \x1b[2J"},
        {**usual, "level": "ERROR", "msg": "c"},
        {**usual, "level": "INFO", "msg": "hint: d"},
    ]


def test_a_step_is_logged_when_it_begins_and_when_it_ends() -> None:
    stream = io.StringIO()

    with console(stream).step("Fetching") as step:
        step.advance(7)

    begun, done = logged(stream)
    assert (begun["msg"], begun["status"]) == ("Fetching", "begun")
    assert (done["status"], done["done"]) == ("done", 7)
    assert done["elapsed"] == {"nanosecond": 1_500_000_000, "human": "1.5s"}


def test_a_step_that_fails_says_so() -> None:
    stream = io.StringIO()

    with pytest.raises(ValueError, match="no"), console(stream).step("Fetching"):
        raise ValueError("no")

    assert logged(stream)[-1]["status"] == "failed"


def test_long_work_gives_a_sign_of_life() -> None:
    stream = Awaited('"status": "running"')

    with JsonLines(stream, beat=0.001).step("Fetching"):
        assert stream.seen.wait(20)
