"""A Go toolchain that publishes modules and builds programs without a compiler.

`programs/go` is copied as `go` into a folder of PATH by `install_go`. Its configuration lies beside it: `release`,
`modules/PATH@VERSION.mod`, beside it a folder `PATH@VERSION` with the files of a module, `lacking`, which is what it says when it lacks a module, and `hold`, a file for whose disappearance a build waits. Each call is
written down in `calls`, and the last environment in `environment`.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

_PROGRAM = Path(__file__).parent / "programs" / "go"


def install_go(folder: Path, *, release: str = "1.26.8") -> Path:
    """Put the fake into a folder, and return that folder."""
    folder.mkdir(parents=True)
    shutil.copy(_PROGRAM, folder)
    (folder / "release").write_text(release, encoding="utf-8")
    (folder / "modules").mkdir()
    return folder


def publish_module(folder: Path, module: str, version: str, text: str) -> None:
    """Let the fake's proxy have a module."""
    path = folder / "modules" / f"{module}@{version}.mod"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def publish_files(folder: Path, module: str, version: str, files: dict[str, str]) -> None:
    """Let the fake's proxy have a module with these files, which cannot be written, as Go's cache has it."""
    publish_module(folder, module, version, files["go.mod"])
    root = folder / "modules" / f"{module}@{version}"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o444)


def calls(folder: Path) -> list[str]:
    """Return what the fake was asked, a line a call."""
    path = folder / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def environment(folder: Path) -> Mapping[str, str]:
    """Return the environment in which the fake was last asked for a module's programs."""
    text = (folder / "environment").read_text(encoding="utf-8")
    return dict(each.split("=", 1) for each in text.split("\0")[:-1])
