"""Runs commands in a container, and reads its processes and files."""

import asyncio
import io
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from kwokctl.errors import CommandError, KwokctlError, NotFoundError
from kwokctl.json_value import Json
from runtimes.engine.engine_client import Engine
from runtimes.engine.engine_logs import followed

_COLUMNS = "-eo pid,args"
_TRIES = 20
_PAUSE = 0.1
"""Seconds between tries, so that a busy machine has ended meanwhile what was about to end."""
_T = TypeVar("_T")


class Inside:
    """A container that an engine has. What Engine raises is raised here, too."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container

    async def run(self, *words: str) -> str:
        """Run a command to its end and return what it wrote; CommandError if it fails."""
        started = await self._engine.ask("exec_create", self._container, list(words))
        output: bytes = await self._engine.ask("exec_output", started["Id"])
        code = (await self._engine.ask("exec_inspect", started["Id"]))["ExitCode"]
        said = output.decode(errors="replace").strip()
        if code:
            raise CommandError(
                f"'{words[0]}' exited with {code} in '{self._container}'", detail=said
            )
        return said

    async def follow(self, *words: str) -> AsyncIterator[bytes]:
        """Run a command and yield its output; it is killed when the reader stops."""
        command = ["sh", "-c", 'echo $$; exec "$@"', "sh", *words]
        started = await self._engine.ask("exec_create", self._container, command, stderr=False)
        stream = await self._engine.ask("exec_stream", started["Id"])
        process = b""
        try:
            async for part in followed(stream):
                if process.endswith(b"\n"):
                    yield part
                    continue
                head, end, rest = part.partition(b"\n")
                process += head + end
                if rest:
                    yield rest
        finally:
            # It may have ended, or all of the container.
            with suppress(KwokctlError):
                await self.run("kill", process.decode().strip())

    async def programs(self) -> set[str]:
        """Name the programs that run in it, in containers of its own, too."""
        answer = await self._top()
        # Podman does not split the columns.
        lines = (" ".join(line).split()[1:] for line in answer["Processes"] or ())
        return {words[0].rpartition("/")[2] for words in lines if words}

    async def _top(self) -> dict[str, Json]:
        """Ask for the processes, again if that fails because a container inside ends meanwhile."""
        return dict(await _repeated(lambda: self._engine.ask("top", self._container, _COLUMNS)))

    async def files(self, folder: str) -> list[tuple[str, bytes]]:
        """Return the files below a folder, by name and in order; none if there is no folder."""

        def read() -> list[tuple[str, bytes]]:
            with self._engine.dialled() as client:
                parts, _ = client.get_archive(self._container, folder)
                return _unpacked(parts)

        try:
            return await _repeated(lambda: asyncio.to_thread(read))
        except NotFoundError:
            return []


async def _repeated(work: Callable[[], Awaitable[_T]]) -> _T:
    """Do what fails while something in the container comes or goes, until it succeeds."""
    for _ in range(_TRIES - 1):
        with suppress(CommandError):
            return await work()
        await asyncio.sleep(_PAUSE)
    return await work()


def _unpacked(parts: Iterator[bytes]) -> list[tuple[str, bytes]]:
    """Return the files of an archive; CommandError for one that ends in the middle.

    An engine breaks off when a file has become longer, or is gone, since it has begun to send it.
    """
    found = []
    try:
        with tarfile.open(fileobj=io.BytesIO(b"".join(parts))) as archive:
            for member in sorted(archive.getmembers(), key=lambda member: member.name):
                file = archive.extractfile(member) if member.isfile() else None
                if file:
                    found.append((member.name, file.read()))
    except tarfile.ReadError as e:
        raise CommandError("files in a container changed while the engine sent them") from e
    return found
