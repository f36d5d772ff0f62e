import io

from kwokctl.cli.writer import Writer


def test_a_stream_that_lacks_a_character_gets_another() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Writer(stream).line("done", label="✓")
    assert raw.getvalue() == b"? done\n"


def test_labels_are_coloured_on_request_and_texts_never() -> None:
    stream = io.StringIO()
    Writer(stream, is_coloured=True).line("error: not really", label="error:")
    assert stream.getvalue() == "\x1b[1;31merror:\x1b[0m error: not really\n"
