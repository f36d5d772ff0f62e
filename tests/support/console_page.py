"""A page's `console` blocks: its commands, and the output that it shows, which a run must have."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MARK = "=== step "
_DIGITS = re.compile(r"\d+")
_MINUTES = re.compile(r"(?<=s) \(\d+:\d\d:\d\d\)$")
"""The end of the last line of pytest where it has taken more than a minute."""
_LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class ConsoleStep:
    """A command, and the lines of output that the page shows of it."""

    command: str
    shown: Sequence[str]

    def lacks(self, output: str) -> list[str]:
        """Return the lines that the page shows and the output has not; numbers and spaces may differ."""
        there = {_plain(line) for line in output.splitlines()}
        return [line for line in self.shown if line != _LEFT_OUT and _plain(line) not in there]


def console_steps(page: Path) -> list[ConsoleStep]:
    """Return the steps of a page in order: behind `$ ` a command, behind `>` its further lines, then output."""
    steps: list[ConsoleStep] = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        command: list[str] = []
        shown: list[str] = []
        for line in [*block.splitlines(), "$ "]:
            if line.startswith("$ "):
                if command:
                    steps.append(ConsoleStep("\n".join(command), shown))
                command, shown = [line[2:]], []
            elif line.startswith(">"):
                command.append(line[2:])
            else:
                shown.append(line)
    return steps


def run_steps(
    steps: Sequence[ConsoleStep], folder: Path, environment: Mapping[str, str], seconds: float
) -> list[str]:
    """Run the commands in one shell, which stops at the first that fails; return the outputs of those that ran.

    Raises AssertionError, with the end of the output, for a command that fails.
    """
    lines = ["set -eu", "exec 2>&1"]
    for number, step in enumerate(steps):
        lines += [f"echo '{_MARK}{number}'", step.command]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    outputs = [part.partition("\n")[2] for part in done.stdout.split(_MARK)[1:]]
    last = steps[len(outputs) - 1].command
    assert done.returncode == 0, f"{last}\n{outputs[-1][-4000:]}"
    return outputs


def _plain(line: str) -> str:
    """Return a line in which all numbers and all spaces are alike."""
    return " ".join(_DIGITS.sub("0", _MINUTES.sub("", line)).split())
