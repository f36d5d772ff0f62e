"""Writes the pictures of terminals in the README and in pages, each from a real run.

`python docs/record_terminal.py [FILE ...]` creates a cluster in a work folder of its own, shows what is done
with it, and deletes it again; without a file it writes all pictures. It needs the components and runs about half
a minute each; record on a quiet machine, because pictures show how long steps took.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess  # noqa: TID251 - kwokctl's own runner gives no terminal
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Recording:
    """A picture: what it is called, and the commands that it shows."""

    title: str
    commands: tuple[str, ...]
    before: tuple[str, ...] = ()
    """Commands that make what the others need, and are not shown."""


RECORDINGS = {
    "terminal.svg": Recording(
        "kwokctl creates a cluster with 1,000 nodes and 2,000 pods and shows it",
        (
            "kwokctl create cluster --nodes 1000 --pods 2000 --wait",
            "kwokctl get components -o wide",
            "kwokctl kubectl get nodes | head -n 4",
            "kwokctl kubectl get pods | head -n 4",
        ),
    ),
    "terminal-faults.svg": Recording(
        "kwokctl breaks two GPUs of a fleet with 512, shows who sees it, and undoes it",
        (
            "kwokctl get fleet",
            "kwokctl fault inject xid-79 --id lost --count 2 --dialect eks --dialect device-plugin --wait",
            "kwokctl fault status",
            "kwokctl fault log | grep -e PHASE -e xid-79",
            "kwokctl get fleet",
            "kwokctl fault clear lost --wait",
            "kwokctl get fleet | head -n 2",
        ),
        before=(
            "kwokctl create cluster --stage pod-kubelet --stage node-chaos --enable-crds Fault --wait",
            "kwokctl scale dgx-h100 --replicas 64 --wait --param '.dialects = [\"eks\"]'",
        ),
    ),
}
_COLUMNS, _ROWS = 118, 40
_CONTROL = re.compile(r"\x1b\[(\??)(\d*)([A-JKhl])|(\n)|(\r)")
"""The sequences that move the cursor or erase; colours stay in the text."""
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>{title}</title>
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
    font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#1c1f26" width="100%" height="100%" rx="8"/>
<g transform="translate(12, 10)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own format loads a font from another site."""


def record(recording: Recording) -> str:
    """Run the commands and return the picture of what they print."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=_COLUMNS, file=nowhere, highlight=False)
        environment = _environment(folder)
        try:
            for command in recording.before:
                _output(command, environment)
            for number, command in enumerate(recording.commands):
                console.print(end="\n" if number else "")
                console.print(Text.assemble(("$ ", "green"), (command, "bold")))
                for row in _screen(_output(command, environment)):
                    console.print(Text.from_ansi(row), soft_wrap=True)
        finally:
            _output("kwokctl delete cluster --all", environment)
    form = _FORMAT.replace("{title}", recording.title)
    svg = console.export_svg(theme=MONOKAI, code_format=form, unique_id="terminal")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def _environment(folder: str) -> dict[str, str]:
    bin_folder = Path(sys.executable).parent
    return {
        **{name: value for name, value in os.environ.items() if name not in {"CI", "NO_COLOR"}},
        "KWOK_WORKDIR": folder,
        "KUBECONFIG": f"{folder}/kubeconfig",
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "TERM": "xterm-256color",
    }


def _output(command: str, environment: dict[str, str]) -> str:
    """Run a command on a terminal and return all that it writes there."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    with subprocess.Popen(  # noqa: S602 - the commands above, as a reader types them
        command, shell=True, env=environment, stdin=its, stdout=its, stderr=its
    ) as process:
        os.close(its)
        written = b"".join(_read(ours))
    os.close(ours)
    if process.returncode:
        sys.exit(f"{command}: {written.decode()}")
    return written.decode()


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error.
            return
        if not part:
            return
        yield part


def _screen(written: str) -> list[str]:
    """Return the rows that stay on the screen: a step under way erases and repaints its own."""
    rows, row, position = [""], 0, 0
    for control in _CONTROL.finditer(written):
        rows[row] += written[position : control.start()]
        position = control.end()
        if control[4]:
            row += 1
            rows += [""] * (row == len(rows))
        elif control[3] == "K":
            rows[row] = ""
        elif control[3] == "A":
            row -= int(control[2] or 1)
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def main() -> int:
    """Write the pictures."""
    for name in sys.argv[1:] or RECORDINGS:
        (FOLDER / name).write_text(record(RECORDINGS[name]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
