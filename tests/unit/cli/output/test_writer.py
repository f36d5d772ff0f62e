import io
import os
from contextlib import ExitStack
from contextvars import copy_context
from pathlib import Path

import pytest

from kwokctl.cli.output.writer import Writer, nested


@pytest.mark.parametrize(
    ("label", "text", "written"),
    [
        ("✓", "done", "ok done"),
        ("✗", "broken", "FAILED broken"),
        ("  ·", "begun", "  .. begun"),
        ("…", "under way", "... under way"),
        ("error:", "no 'ü'", "error: no '?'"),
    ],
)
def test_a_stream_that_lacks_a_character_gets_distinct_words_instead(
    label: str, text: str, written: str
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Writer(stream).line(text, label=label)
    assert raw.getvalue() == f"{written}\n".encode()


def test_a_stream_that_has_a_character_keeps_it() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8")
    Writer(stream).line("done", label="✓")
    assert raw.getvalue() == "✓ done\n".encode()


def test_labels_are_coloured_on_request_and_texts_never() -> None:
    stream = io.StringIO()
    Writer(stream, is_coloured=True).line("error: not really", label="error:")
    assert stream.getvalue() == "\x1b[1;31merror:\x1b[0m error: not really\n"


def test_writing_to_a_full_disk_raises_no_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        writer = Writer(stream)
        writer.line("lost")
        writer.line("lost, too")


def test_a_reader_that_is_gone_is_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError), os.fdopen(writing, "w", encoding="utf-8") as stream:
        Writer(stream).line("unread")


def test_a_step_that_another_task_closes_does_not_end_the_command() -> None:
    with ExitStack() as steps:
        assert copy_context().run(steps.enter_context, nested()) == 0
    with nested() as depth:
        assert depth == 0
