"""Fills a folder with what an image holds: Python out of Debian's packages, and ours with its libraries."""

import compileall
import shutil
import sys
from pathlib import Path
from py_compile import PycInvalidationMode

from image.commands import ROOT, run
from image.packages import Packages

PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib", "libstdc++6")
"""The packages of the image; their dependencies follow."""
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_SOURCES = "etcd3>=0.12,<0.13"
_PYTHON = "311"
APPLICATION = "opt/kwok"
USER = 65532
"""Neither root nor a user of the machine."""


def add_packages(tree: Path, folder: Path, arch: str, *more: str) -> None:
    """Unpack Debian's packages: Python, and more."""
    Packages.listed(folder, arch).unpack(tree, *PACKAGES, *more)


def add_application(tree: Path, folder: Path, arch: str) -> None:
    """Install the wheel and what it needs, as wheels for the image's Python."""
    run([sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)])
    [wheel] = folder.glob("kwokctl-*.whl")
    # Published as a source only; it holds no machine code.
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(folder),
            _SOURCES,
        ]
    )
    machine = MACHINES[arch]
    platforms = [
        f"--platform=manylinux{each}_{machine}" for each in ("2014", "_2_17", "_2_28", "_2_34")
    ]
    run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(tree / APPLICATION),
            "--only-binary=:all:", f"--find-links={folder}", f"--python-version={_PYTHON}", "--implementation=cp", *platforms,
            str(wheel),
        ]
    )  # fmt: skip
    shutil.rmtree(tree / APPLICATION / "bin", ignore_errors=True)
    for name in ("tmp", "etc/kwok", "proc", "sys", "dev"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    (tree / "tmp").chmod(0o1777)
    (tree / "etc" / "passwd").write_text(f"kwok:x:{USER}:{USER}::/tmp:/nonexistent\n", "ascii")
    (tree / "etc" / "group").write_text(f"kwok:x:{USER}:\n", "ascii")
    compile_modules(tree)


def compile_modules(tree: Path) -> None:
    """Write bytecode beside all modules: the image's user cannot, and each start would compile them again.

    Python is to take it whatever the times of files are (https://peps.python.org/pep-0552/): an image has none. Only the
    Python that is in the image can write it.
    """
    if f"{sys.version_info.major}{sys.version_info.minor}" != _PYTHON:
        print(
            f"modules are not compiled: that takes Python {_PYTHON[0]}.{_PYTHON[1:]}",
            file=sys.stderr,
        )
        return
    for folder in (tree / APPLICATION, *tree.glob("usr/lib/python3*")):
        # What is no program of this version, such as a template of Python's own tests, is left as it is.
        compileall.compile_dir(
            folder,
            quiet=2,
            stripdir=tree,
            prependdir="/",
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )
