""""""

import logging
from collections.abc import Iterator

import pytest

from kwokctl.embedded.component_process import log, log_to_stderr, set_verbosity


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Put the root logger back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_looks_like_those_of_kubernetes_components(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()
    log.warning("it is %s", "late")

    line = capsys.readouterr().err
    assert line.startswith("W")
    assert "test_component_process.py:" in line
    assert line.endswith("] it is late\n")


@pytest.mark.parametrize(
    ("verbosity", "shown"),
    [
        (-2, ["error"]),
        (-1, ["warning", "error"]),
        (0, ["info", "warning", "error"]),
        (4, ["debug", "info", "warning", "error"]),
    ],
)
def test_the_verbosity_says_what_is_logged(
    verbosity: int, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr()
    set_verbosity(verbosity)
    for level in ("debug", "info", "warning", "error"):
        getattr(log, level)(level)

    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == shown
