"""Runs programs to their end."""

import asyncio
import os
import shlex
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path

from kwokctl.errors import CommandError, UnavailableError
from kwokctl.host import leash

_TAIL = 40


async def run(
    *argv: str | PathLike[str], env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    """Run a program, without input, to its end and return what it wrote to standard output.

    `env` adds to this process's environment. Cancelled, for example by a timeout, it takes the program
    down with it. Raises UnavailableError when there is no such program, CommandError when it fails.
    """
    words = [fspath(word) for word in argv]
    merged = {**os.environ, **env} if env else None
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=merged, cwd=cwd
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


async def run_in_view(*argv: str | PathLike[str], env: Mapping[str, str] | None = None) -> int:
    """Run a program of the user to its end, with our input, and return its exit code.

    What it writes goes to our standard error: standard output is for our own result. Cancelled, it asks
    the program to end, and waits for that. Raises UnavailableError when there is no such program.
    """
    words = [fspath(word) for word in argv]
    merged = {**os.environ, **env} if env else None
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=sys.stderr.fileno(), env=merged
        )
    except (FileNotFoundError, PermissionError) as e:
        why = "cannot be run" if isinstance(e, PermissionError) else "is not installed"
        raise UnavailableError(f"'{words[0]}' {why}") from e
    try:
        return await process.wait()
    except BaseException:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        raise


async def run_leashed(
    *argv: str | PathLike[str],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    line: Callable[[str], None] = lambda _: None,
    share: Sequence[int] = (),
    accept: Collection[int] = (0,),
) -> str:
    """Run a long program that ends when we end, even by SIGKILL, with all that it has started.

    Returns its standard output; `line` is called with each line of its standard error as it
    comes. The descriptors in `share` stay open until all is over, so a lock on one of them is
    kept until then. CommandError, with the last lines of standard error, when it ends with a
    status that is not in `accept`.
    """
    words = [fspath(word) for word in argv]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", leash.__file__, *words,
        stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=cwd, pass_fds=share, start_new_session=True,
        env={**os.environ, **env} if env else None,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    tail: deque[str] = deque(maxlen=_TAIL)
    try:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(process.stdout.read())
            async for text in _lines(process.stderr):
                tail.append(text)
                line(text)
        await process.wait()
    except BaseException:
        process.stdin.close()
        await process.communicate()
        raise
    process.stdin.close()
    if process.returncode not in accept:
        raise CommandError(
            f"'{shlex.join(words)}' exited with {process.returncode}",
            detail="\n".join(tail).strip() or None,
        )
    return reading.result().decode(errors="replace")


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield lines of any length, which `StreamReader` itself refuses."""
    rest = b""
    while block := await stream.read(1 << 16):
        *whole, rest = (rest + block).split(b"\n")
        for text in whole:
            yield text.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")
