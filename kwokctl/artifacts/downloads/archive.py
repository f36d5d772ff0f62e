"""Takes programs out of release archives."""

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Generator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO

from kwokctl.errors import ArtifactError
from kwokctl.host.files import naming

_BLOCK = 1 << 20


def extract(
    archive: Path, members: Collection[str], folder: Path, *, title: str
) -> dict[str, Path]:
    """Write those of `members` that are in the archive into `folder`, in one pass.

    Members are known by their file name alone, wherever they are in the archive, so that none
    can be written elsewhere. `title` names the archive in errors. Raises ArtifactError when it
    is neither a tar archive nor a zip file, or is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Path] = {}
    files = _zipped if zipfile.is_zipfile(archive) else _tarred
    try:
        with closing(files(archive)) as contents:
            for name, content in contents:
                if name in members and name not in found:
                    found[name] = _written(content, folder / name)
                if len(found) == len(members):
                    break
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as e:
        raise ArtifactError(
            f"'{title}' is not a complete tar or zip archive",
            hint="'#' is for archives only: give the address of a program itself without it",
            detail=str(e) or None,
        ) from e
    return found


def _written(content: IO[bytes], path: Path) -> Path:
    with naming(path), path.open("wb") as target:
        shutil.copyfileobj(content, target, _BLOCK)
    return path


def _tarred(archive: Path) -> Generator[tuple[str, IO[bytes]], None, None]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if content := tar.extractfile(member) if member.isfile() else None:
                yield PurePosixPath(member.name).name, content


def _zipped(archive: Path) -> Generator[tuple[str, IO[bytes]], None, None]:
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            if not member.is_dir():
                with packed.open(member) as content:
                    yield PurePosixPath(member.filename).name, content
