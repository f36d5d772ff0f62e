"""Fills a folder with what an image holds: Python out of Debian's packages, and ours with its libraries."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib", "libstdc++6")
"""What the image is made of; what they depend on follows."""
_UNUSED = (
    "dpkg", "perl", "tar", "install-info", "mailcap", "mime-support", "readline-common", "libdb5.3",
    "libgdbm", "libperl", "libsqlite3", "libreadline", "libncursesw", "libacl", "libselinux", "libpcre2",
    "libmd0", "libzstd", "gcc-12-base", "libtinfo",
)  # fmt: skip
"""What other packages need only to be installed, or for modules that are never imported."""
_LEFT_OUT = (
    "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/binfmts",
    "usr/share/python3", "usr/share/applications", "usr/share/pixmaps", "usr/share/bug",
)  # fmt: skip
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_SOURCES = "etcd3>=0.12,<0.13"
_PYTHON = "311"
APPLICATION = "opt/kwok"
USER = 65532
"""Neither root nor a user of the machine."""


def add_packages(tree: Path, folder: Path, arch: str, *more: str) -> None:
    """Unpack Debian's packages, without what only the package manager needs."""
    folder.mkdir(parents=True)
    names = [f"{name}:{arch}" for name in _closure(*PACKAGES, *more)]
    run(["apt-get", "-q", "download", *names], at=folder)
    for package in sorted(folder.glob("*.deb")):
        run(["dpkg-deb", "--extract", str(package), str(tree)])
    for unused in _LEFT_OUT:
        shutil.rmtree(tree / unused, ignore_errors=True)


def _closure(*packages: str) -> Sequence[str]:
    words = [f"--no-{each}" for each in
             ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]  # fmt: skip
    listed = run(["apt-cache", "depends", "--recurse", *words, *packages])
    names = {line for line in listed.splitlines() if line and line[0].isalnum()}
    return sorted(name for name in names if not name.startswith(_UNUSED))


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


def run(words: Sequence[str], *, at: Path = ROOT) -> str:
    """Run a command, and return what it writes. Raises SystemExit with its errors if it fails."""
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"'{words[0]} {words[1]}' failed:\n{done.stderr[-2000:]}")
    return done.stdout
