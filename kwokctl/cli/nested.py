"""Lets the tools behind kwokctl complete their own words: kubectl, etcdctl, etcdutl.

Every program made with Cobra answers `__complete` with a line for each word, and then `:` and a sum
of directives (https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md).
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kwokctl.cli.parsing import complete
from kwokctl.cli.verbs.completion import VARIABLE
from kwokctl.errors import KwokctlError
from kwokctl.host.paths import cache_dir

_ERROR, _NO_SPACE, _NO_FILES, _EXTENSIONS, _FOLDERS = 1, 2, 4, 8, 16
_PATIENCE = 10.0
"""Seconds; kubectl itself asks the API server for names."""


class Tool(msgspec.Struct, frozen=True):
    """The other program that takes these words: it completes them itself."""

    name: str
    cluster: str
    words: tuple[str, ...]

    def answer(self) -> str:
        """Return the answer to the shell; empty if there is none."""
        import asyncio  # slow to load, and other words need no event loop

        program = shutil.which(self.name) or _stored(self.name)
        return translated(asyncio.run(self._said(program))) if program else ""

    async def _said(self, program: str) -> str:
        import asyncio

        from kwokctl.host import process

        os.environ.pop(VARIABLE, None)
        env = {"KUBECONFIG": complete.kubeconfig(self.cluster)}
        try:
            async with asyncio.timeout(_PATIENCE):
                return await process.run(program, "__complete", *self.words, env=env)
        except (KwokctlError, OSError):
            return ""


def translated(said: str) -> str:
    """Return what a tool has answered as kwokctl answers shells."""
    *lines, last = said.splitlines() or [""]
    if not (last.startswith(":") and last[1:].isdigit()) or int(last[1:]) & _ERROR:
        return ""
    directives = int(last[1:])
    if directives & _EXTENSIONS:
        return " ".join(("files", *_extensions(lines)))
    if directives & _FOLDERS:
        return "folders"
    if not lines and not directives & _NO_FILES:
        return "files"
    kind = "words nospace" if directives & _NO_SPACE else "words"
    return "\n".join((kind, *lines))


def _extensions(lines: Sequence[str]) -> list[str]:
    """Return the endings of files that a tool takes, without what shells could take for a pattern."""
    words = (line.strip().lstrip("*.") for line in lines)
    return [word for word in words if word.isalnum()]


def _stored(name: str) -> str | None:
    """Return the program that kwokctl has installed last."""
    found = list((cache_dir() / "store").glob(f"*/{name}/*/{name}"))
    return str(max(found, key=_installed)) if found else None


def _installed(program: Path) -> float:
    return program.stat().st_mtime
