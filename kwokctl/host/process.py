"""Runs programs to their end."""

import asyncio
import os
import shlex
import shutil
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
_STDIN = 0


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
    """Run a program of the user to its end, with our input, and return its exit code, 128 + N after signal N.

    What it writes goes to our standard error: standard output is for our own result. It is asked to end (SIGTERM) when this
    is cancelled, which waits for its end, and when we end without that, even by SIGKILL. Raises UnavailableError when there
    is no such program.
    """
    words = [fspath(word) for word in argv]
    merged = {**os.environ, **(env or {})}
    _demand_program(words[0], merged.get("PATH"))
    theirs, ours = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *_leashed(theirs), *words, stdout=sys.stderr.fileno(), pass_fds=(theirs,), env=merged
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    try:
        return await process.wait()
    finally:
        os.close(ours)
        await process.wait()


def _demand_program(name: str, path: str | None) -> None:
    if shutil.which(name, path=path) is None:
        is_there = shutil.which(name, mode=os.F_OK, path=path) is not None
        raise UnavailableError(f"'{name}' {'cannot be run' if is_there else 'is not installed'}")


def _leashed(pipe: int) -> tuple[str, ...]:
    """Return the words before those of a program that must end when the other end of a pipe is closed."""
    return sys.executable, "-I", "-S", leash.__file__, str(pipe)


async def run_with_input(argv: Sequence[str], data: bytes, *, patience: float) -> None:
    """Run a program of the user to its end, with `data` as its input.

    What it writes goes to our standard error. Raises UnavailableError if it cannot be run, and CommandError if it fails, or does not
    end within `patience` seconds: then it is killed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=sys.stderr.fileno()
        )
    except OSError as e:
        raise UnavailableError(f"'{argv[0]}' cannot be run: {e.strerror or e}") from e
    try:
        async with asyncio.timeout(patience):
            await process.communicate(data)  # one that closes its input early may still succeed
    except BaseException as e:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if isinstance(e, TimeoutError):
            problem = f"'{shlex.join(argv)}' has not ended after {patience:g} s"
            raise CommandError(problem) from e
        raise
    if process.returncode:
        raise CommandError(f"'{shlex.join(argv)}' exited with {process.returncode}")


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
        *_leashed(_STDIN), *words,
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
