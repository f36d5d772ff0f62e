"""Standard streams that are closed, full, or read by a program that has ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Kwokctl
from tests.support.terminal import shown

_WORDS = ("--version", "--help", "get clusters -o json", "completion bash", "plan")
UNWRITABLE = "cannot write to standard output: bad file descriptor"


def shell(environ: dict[str, str], command: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    program = f"{sys.executable} -m kwokctl {command}"
    return subprocess.run(
        ["bash", "-c", program],
        env=environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", _WORDS)
def test_a_result_that_cannot_be_written_is_an_error(environ: dict[str, str], words: str) -> None:
    done = shell(environ, f"{words} >&-")

    assert done.returncode == 1
    assert UNWRITABLE in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", _WORDS)
def test_a_full_disk_is_an_error(environ: dict[str, str], words: str) -> None:
    done = shell(environ, f"{words} >/dev/full")

    assert done.returncode == 1
    assert "no space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", _WORDS)
def test_messages_and_input_that_are_closed_change_nothing(
    environ: dict[str, str], kwokctl: Kwokctl, words: str
) -> None:
    assert shell(environ, f"{words} <&- 2>&-").stdout == kwokctl(*words.split()).stdout != ""


def test_a_verb_that_prints_nothing_needs_no_standard_output(environ: dict[str, str]) -> None:
    done = shell(environ, "delete cluster <&- >&-")

    assert (done.returncode, done.stderr) == (0, "warning: there is no cluster 'kwok'\n")


def test_a_verb_runs_without_any_stream(environ: dict[str, str]) -> None:
    assert shell(environ, "scale node --replicas 1 <&- >&- 2>&-").returncode == 1
    assert shell(environ, "delete cluster <&- >&- 2>&-").returncode == 0


def test_configuration_from_a_closed_input_is_an_error(environ: dict[str, str]) -> None:
    done = shell(environ, "--config - plan <&-")

    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot read standard input")


def test_a_configuration_that_does_not_exist_is_refused_by_verbs_that_do_not_read_it(
    environ: dict[str, str],
) -> None:
    for words in ("--config /no/such get clusters", "get --config /no/such clusters"):
        done = shell(environ, words)

        assert done.returncode == 2
        assert done.stderr.startswith("error: '--config' is '/no/such', which does not exist\n")


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ("doctor", "LANG=C"),
        ("create cluster --help", "LC_ALL=C"),
        ("help create cluster", "LANG=POSIX"),
        ("delete cluster --name x", "LANG=de LC_ALL=POSIX"),
    ],
)
def test_in_a_locale_of_ascii_nothing_else_is_written(
    environ: dict[str, str], words: str, chosen: str
) -> None:
    done = shell(environ | dict(each.split("=") for each in chosen.split()), words)

    said = done.stdout + done.stderr
    assert said
    assert said.isascii()
    assert "?" not in said


@pytest.mark.parametrize(
    "chosen", [{}, {"LANG": "C.UTF-8"}, {"LANG": "C", "PYTHONUTF8": "1"}], ids=str
)
def test_elsewhere_marks_are_what_they_are(environ: dict[str, str], chosen: dict[str, str]) -> None:
    assert "\N{CHECK MARK}" in shell(environ | chosen, "doctor").stdout


@pytest.mark.parametrize(("terminal", "codes"), [("xterm", True), ("dumb", False)])
def test_headings_of_help_are_bold_where_the_terminal_obeys_codes(
    environ: dict[str, str], terminal: str, codes: bool
) -> None:
    words = [sys.executable, "-m", "kwokctl", "get", "--help"]
    more = {"PYTHONPATH": str(Path(__file__).parents[2]), "TERM": terminal}

    written = shown(words, environ | more, rows=24, columns=80)

    assert "Commands" in written
    assert ("\x1b" in written) is codes


@pytest.mark.parametrize("words", ["--help", "get --help", "create cluster --help"])
@pytest.mark.parametrize("columns", [40, 51, 80])
def test_help_fits_a_narrow_terminal(in_process: Kwokctl, words: str, columns: int) -> None:
    done = in_process(*words.split(), COLUMNS=str(columns))

    lines = done.stdout.partition("Examples:")[0].splitlines()
    long = [line for line in lines if len(line) > columns]
    # A heading, or a name, that is longer is whole.
    assert [line for line in long if line.startswith("   ")] == []
    assert len(long) <= 2
