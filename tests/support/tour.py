"""The commands of a document's `console` blocks: what stands behind `$ `, and behind `> ` goes on."""

import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(document: Path) -> Iterator[str]:
    """Yield the commands of a document in order, each with its further lines; output is left out."""
    for block in _BLOCK.findall(document.read_text(encoding="utf-8")):
        command: list[str] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield "\n".join(command)
                command = [line[2:]]
            elif command and line.startswith(">"):
                command.append(line[2:])
        if command:
            yield "\n".join(command)


def script(document: Path) -> str:
    """Return the commands as a bash script that stops at the first that fails and names it."""
    return "\n".join(
        [
            "set -euo pipefail",
            """trap 'echo "failed: $BASH_COMMAND" >&2' ERR""",
            *commands(document),
        ]
    )
