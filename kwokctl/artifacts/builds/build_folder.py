"""The folder that a build works in, and the error of a build that fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kwokctl.errors import ArtifactError, CommandError
from kwokctl.host.files import remove_tree


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
