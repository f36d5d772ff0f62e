import io
import json
import logging
from collections.abc import Iterator

import pytest

from kwokctl.cli.output import diagnosis
from kwokctl.errors import UsageError
from tests.support.streams import FakeTerminal


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    names = ("kwokctl", "runtimes")
    before = [(logging.getLogger(n), [*logging.getLogger(n).handlers]) for n in names]
    yield
    for logger, handlers in before:
        logger.handlers = handlers
        logger.setLevel(logging.NOTSET)
        logger.propagate = True


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("DEBUG", 10),
        ("INFO", 20),
        ("WARN", 30),
        ("ERROR", 40),
        ("debug", 10),
        ("-4", 10),
        ("0", 20),
        ("8", 40),
        ("INFO+2", 25),
        ("DEBUG-3", 2),
        ("-100", 1),
    ],
)
def test_levels_of_the_original_become_those_of_python(text: str, number: int) -> None:
    assert diagnosis.level(text) == number


@pytest.mark.parametrize("text", ["", "LOUD", "INFO+", "1.5"])
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a level"):
        diagnosis.level(text)


def test_lines_are_json_where_no_person_reads_them() -> None:
    stream = io.StringIO()
    diagnosis.set_level("WARN", stream)
    logging.getLogger("kwokctl.host").info("not this")
    logging.getLogger("kwokctl.host").warning("lost %s", "it")
    line = json.loads(stream.getvalue())
    assert (line["level"], line["msg"]) == ("WARN", "lost it")
    assert line["source"].startswith("kwokctl.host:")
    assert line["time"].endswith("+00:00")


def test_lines_are_text_on_a_terminal() -> None:
    stream = FakeTerminal()
    diagnosis.set_level("DEBUG", stream)
    logging.getLogger("runtimes.binary").debug("pid \x1b[0m%d", 7)
    assert stream.getvalue() == "DEBUG runtimes.binary: pid [0m7\n"


def test_other_libraries_stay_silent() -> None:
    stream = io.StringIO()
    diagnosis.set_level("DEBUG", stream)
    logging.getLogger("urllib3").debug("chatter")
    assert stream.getvalue() == ""
