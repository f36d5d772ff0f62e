import io

import pytest

from kwokctl.cli.output.console import choose
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
