import io

import pytest

from kwokctl.cli.output.console import choose
from kwokctl.cli.output.json_lines import JsonLines
from kwokctl.cli.output.plain import Plain
from kwokctl.cli.output.terminal import Terminal
from tests.support.streams import FakeTerminal


@pytest.mark.parametrize(
    ("stream", "environ", "is_alive"),
    [
        (FakeTerminal(), {}, True),
        (FakeTerminal(), {"NO_COLOR": "1"}, True),
        (FakeTerminal(), {"CI": "true"}, False),
        (FakeTerminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_steps_are_animated_only_on_a_terminal(
    stream: io.StringIO, environ: dict[str, str], is_alive: bool
) -> None:
    assert choose(stream, environ).is_alive is is_alive


@pytest.mark.parametrize(
    ("stream", "as_log", "kind"),
    [
        (io.StringIO(), True, JsonLines),
        (io.StringIO(), False, Plain),
        (FakeTerminal(), True, Terminal),
    ],
)
def test_a_log_takes_the_place_of_plain_lines_alone(
    stream: io.StringIO, as_log: bool, kind: type[object]
) -> None:
    assert type(choose(stream, {}, as_log=as_log)) is kind
