"""Makes the container image of the command `kwok`, from Debian's packages and the wheel.

`python image/make_image.py` writes `dist/kwok-VERSION-ARCH.tar`, which `docker load` and `kind load
image-archive` read, and loads it if there is a container engine. No engine is needed to make it, and no
base image: it holds Python, the libraries that it needs, and our packages; no shell.
"""

import argparse
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from kwokctl import __version__
from kwokctl.clusters.in_cluster.request import IMAGE

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
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_SOURCES = "etcd3>=0.12,<0.13"
_PYTHON = "311"
_APPLICATION = "opt/kwok"
_USER = 65532
_MODIFIED = 0
"""The time of all files: the same sources give the same image."""


def main() -> int:
    """Make the image, and load it if there is an engine."""
    given = _parser().parse_args()
    with TemporaryDirectory(prefix="kwok-image-") as folder:
        tree = Path(folder) / "tree"
        add_packages(tree, Path(folder) / "packages", given.arch)
        add_application(tree, Path(folder) / "wheels", given.arch)
        given.to.mkdir(parents=True, exist_ok=True)
        target = given.to / f"kwok-{__version__}-{given.arch}.tar"
        write_archive(tree, target, given.arch)
    print(f"{target}: {target.stat().st_size / 1e6:.0f} MB")
    if given.load and shutil.which("docker"):
        return subprocess.run(["docker", "load", "--input", target], check=False).returncode
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--arch", choices=tuple(_MACHINES), default="amd64")
    made.add_argument("--to", type=Path, default=ROOT / "dist", metavar="DIR")
    made.add_argument("--no-load", dest="load", action="store_false")
    return made


def add_packages(tree: Path, folder: Path, arch: str) -> None:
    """Unpack Debian's packages, without what only the package manager needs."""
    folder.mkdir(parents=True)
    names = [f"{name}:{arch}" for name in _closure()]
    _run(["apt-get", "-q", "download", *names], at=folder)
    for package in sorted(folder.glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(tree)])
    for unused in _LEFT_OUT:
        shutil.rmtree(tree / unused, ignore_errors=True)


def _closure() -> Sequence[str]:
    words = [f"--no-{each}" for each in
             ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]  # fmt: skip
    listed = _run(["apt-cache", "depends", "--recurse", *words, *PACKAGES])
    names = {line for line in listed.splitlines() if line and line[0].isalnum()}
    return sorted(name for name in names if not name.startswith(_UNUSED))


def add_application(tree: Path, folder: Path, arch: str) -> None:
    """Install the wheel and what it needs, as wheels for the image's Python."""
    _run([sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)])
    [wheel] = folder.glob("kwokctl-*.whl")
    # Published as a source only; it holds no machine code.
    _run(
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
    machine = _MACHINES[arch]
    platforms = [
        f"--platform=manylinux{each}_{machine}" for each in ("2014", "_2_17", "_2_28", "_2_34")
    ]
    _run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tree / _APPLICATION),
            "--only-binary=:all:", f"--find-links={folder}", f"--python-version={_PYTHON}", "--implementation=cp", *platforms,
            str(wheel),
        ]
    )  # fmt: skip
    shutil.rmtree(tree / _APPLICATION / "bin", ignore_errors=True)
    for name in ("tmp", "etc/kwok", "proc", "sys", "dev"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    (tree / "tmp").chmod(0o1777)
    (tree / "etc" / "passwd").write_text(f"kwok:x:{_USER}:{_USER}::/tmp:/nonexistent\n", "ascii")
    (tree / "etc" / "group").write_text(f"kwok:x:{_USER}:\n", "ascii")


def write_archive(tree: Path, target: Path, arch: str) -> None:
    """Write the tree as an image of one layer, in the form of `docker save`."""
    layer = _layer(tree)
    configuration = json.dumps(_configuration(layer, arch)).encode()
    name = f"{hashlib.sha256(configuration).hexdigest()}.json"
    packed = gzip.compress(layer, compresslevel=6, mtime=_MODIFIED)
    manifest = [{"Config": name, "RepoTags": [IMAGE], "Layers": ["layer.tar.gz"]}]
    with tarfile.open(target, "w") as archive:
        for path, content in (
            ("layer.tar.gz", packed),
            (name, configuration),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _layer(tree: Path) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as layer:
        for path in _paths(tree):
            layer.add(path, str(path.relative_to(tree)), recursive=False, filter=_plain)
    return written.getvalue()


def _paths(tree: Path) -> Iterator[Path]:
    return (path for path in sorted(tree.rglob("*")) if "__pycache__" not in path.parts)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = _MODIFIED
    return member


def _configuration(layer: bytes, arch: str) -> dict[str, object]:
    return {
        "architecture": arch,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/python3.11", "-P", "-m", "kwokctl.kwok"],
            "Env": [
                "PATH=/usr/bin",
                f"PYTHONPATH=/{_APPLICATION}",
                "PYTHONDONTWRITEBYTECODE=1",
                "PYTHONUNBUFFERED=1",
                "HOME=/tmp",
            ],
            "User": f"{_USER}:{_USER}",
            "WorkingDir": "/",
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created_by": "image/make_image.py"}],
    }


def _run(words: Sequence[str], *, at: Path = ROOT) -> str:
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"'{words[0]} {words[1]}' failed:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
