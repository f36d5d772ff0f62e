"""Fills a folder with what an image holds: Python out of Debian's packages, and ours with its libraries."""

import shutil
import sys
from pathlib import Path

from image.commands import ROOT, run
from image.packages import Packages

PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib", "libstdc++6")
"""What the image is made of; what they depend on follows."""
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
            sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tree / APPLICATION),
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
