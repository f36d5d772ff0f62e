"""Runs the go command for one platform in a folder of its own, and shows what it does."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from kwokctl.artifacts.build_lock import LockedPlace
from kwokctl.artifacts.builds import toolchain
from kwokctl.artifacts.builds.toolchain import Go
from kwokctl.artifacts.program_platform import Platform
from kwokctl.errors import ArtifactError, CommandError
from kwokctl.host import process
from kwokctl.host.files import remove_tree
from kwokctl.json_value import Json
from kwokctl.progress import Step


class GoCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The go command as all builds run it: without cgo, and under the lock of their place."""

    target: Platform
    place: LockedPlace
    folder: Path
    """Holds `tmp`, for files that Go makes meanwhile."""

    async def run(
        self, go: Go, *words: str,
        line: Callable[[str], None] = lambda _: None, accept: Collection[int] = (0,),
        cwd: Path | None = None,
    ) -> str:  # fmt: skip
        """Run it in the folder, or in `cwd`, and return its output; CommandError if it fails."""
        env = {
            **toolchain.ALONE,
            "CGO_ENABLED": "0",
            "GOOS": self.target.os,
            "GOARCH": self.target.arch,
            "GOTMPDIR": str(self.folder / "tmp"),
        }
        return await process.run_leashed(
            go.path, *words,
            env=env, cwd=cwd or self.folder, line=line, share=(self.place.lock,), accept=accept,
        )  # fmt: skip


def saying(step: Step) -> Callable[[str], None]:
    """Show each line that Go prints."""
    return lambda line: step.say(line.removeprefix("go: "))


def counting(step: Step, total: int) -> Callable[[str], None]:
    """Count the packages that Go names as it compiles them; linking, which comes last, is silent."""
    done = 0

    def hear(line: str) -> None:
        nonlocal done
        done += 1
        step.advance()
        step.say(line if done < total else "linking")

    return hear


def documents(text: str) -> Iterator[dict[str, Json]]:
    """Yield the JSON objects that are written one after the other."""
    decoder = json.JSONDecoder()
    position = 0
    while (position := text.find("{", position)) >= 0:
        document, position = decoder.raw_decode(text, position)
        yield document


@asynccontextmanager
async def build_folder(folder: Path, failure: str) -> AsyncIterator[None]:
    """Keep an empty folder, with `tmp` for Go in it, until the build ends.

    Raises ArtifactError, with `failure` as its message, when a command fails.
    """
    await asyncio.to_thread(remove_tree, folder)
    await asyncio.to_thread((folder / "tmp").mkdir, parents=True)
    try:
        yield
    except CommandError as e:
        raise ArtifactError(
            failure,
            hint="Go's output is below; it uses your own settings, such as GOPROXY",
            detail=e.detail or str(e),
        ) from e
    finally:
        await asyncio.to_thread(remove_tree, folder)
