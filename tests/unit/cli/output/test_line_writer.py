""""""

import io
import os
from contextlib import ExitStack
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from kwokctl.cli.output.line_writer import Writer, nested
from tests.support.terminal import written


@pytest.mark.parametrize(
    ("label", "text", "line"),
    [
        ("✓", "done", "ok done"),
        ("✗", "broken", "FAILED broken"),
        ("  ·", "begun", "  .. begun"),
        ("…", "under way", "... under way"),
        ("error:", "no 'ü'", "error: no '?'"),
    ],
)
def test_a_stream_that_lacks_a_character_gets_distinct_words_instead(
    label: str, text: str, line: str
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Writer(stream).line(text, label=label)
    assert raw.getvalue() == f"{line}\n".encode()


def test_a_stream_that_has_a_character_keeps_it() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8")
    Writer(stream).line("done", label="✓")
    assert raw.getvalue() == "✓ done\n".encode()


STAGES = "Stages: 7 of 'pod-fast' and 2 of your own; 'kwokctl stage sets' lists them"


@pytest.mark.parametrize(
    ("columns", "label", "text", "lines"),
    [
        (80, "✓", "short", "✓ short\n"),
        (40, "hint:", STAGES, "hint: Stages: 7 of 'pod-fast' and 2 of\n  your own; 'kwokctl stage sets' lists\n  them\n"),
        (24, "", f"  {STAGES}", "  Stages: 7 of\n    'pod-fast' and 2 of\n    your own;\n    'kwokctl stage sets'\n    lists them\n"),
        (40, "", f"one\n{'/path' * 10} two", f"one\n{'/path' * 10}\n  two\n"),
        (40, "", "the cluster's data and the user's own files", "the cluster's data and the user's own\n  files\n"),
    ],
)  # fmt: skip
def test_on_a_terminal_lines_end_between_words_and_quotes_stay_whole(
    columns: int, label: str, text: str, lines: str
) -> None:
    assert on_screen(columns, text, label=label) == lines


def test_what_is_to_be_copied_is_kept_whole() -> None:
    assert on_screen(40, STAGES, whole=True) == f"{STAGES}\n"


def test_of_a_line_that_is_parted_only_the_label_is_coloured() -> None:
    shown = on_screen(40, STAGES, label="error:", is_coloured=True)
    first, _, rest = shown.partition("\n")
    assert first == "\x1b[1;31merror:\x1b[0m Stages: 7 of 'pod-fast' and 2 of"
    assert "\x1b" not in rest


@pytest.mark.parametrize("columns", range(20, 60))
def test_a_line_is_as_short_in_ascii(columns: int) -> None:
    shown = on_screen(columns, STAGES.replace("'", ""), label="✗", encoding="ascii")
    assert all(len(line) <= columns for line in shown.splitlines())


def on_screen(
    columns: int, text: str, *, encoding: str = "utf-8", is_coloured: bool = False, **how: Any
) -> str:
    """Return what a line is on a terminal of some columns."""
    return written(
        lambda stream: Writer(stream, is_coloured=is_coloured).line(text, **how),
        columns=columns,
        encoding=encoding,
    )


def test_labels_are_coloured_on_request_and_texts_never() -> None:
    stream = io.StringIO()
    Writer(stream, is_coloured=True).line("error: not really", label="error:")
    assert stream.getvalue() == "\x1b[1;31merror:\x1b[0m error: not really\n"


def test_writing_to_a_full_disk_raises_no_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        writer = Writer(stream)
        writer.line("lost")
        writer.line("lost, too")


def test_a_reader_of_messages_that_is_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        Writer(stream).line("unread")
        Writer(stream).line("unread, too")


def test_a_step_that_another_task_closes_does_not_end_the_command() -> None:
    with ExitStack() as steps:
        assert copy_context().run(steps.enter_context, nested()) == 0
    with nested() as depth:
        assert depth == 0
