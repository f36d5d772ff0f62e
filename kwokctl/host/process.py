"""Runs programs to their end."""

import asyncio
import os
import shlex
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path

from kwokctl.errors import CommandError, UnavailableError


async def run(
    *argv: str | PathLike[str], env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    """Run a program to its end and return what it wrote to standard output.

    `env` adds to this process's environment. Cancelled, by a timeout say, it takes the program
    down with it. Raises UnavailableError when there is no such program, CommandError when it fails.
    """
    words = [fspath(word) for word in argv]
    merged = {**os.environ, **env} if env else None
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=PIPE, stderr=PIPE, env=merged, cwd=cwd
        )
    except FileNotFoundError as e:
        raise UnavailableError(f"'{words[0]}' is not installed") from e
    try:
        out, err = await process.communicate()
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise CommandError(
            f"'{shlex.join(words)}' exited with {process.returncode}",
            detail=err.decode(errors="replace").strip() or None,
        )
    return out.decode(errors="replace")
