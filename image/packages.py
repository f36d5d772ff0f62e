"""Unpacks Debian's packages for any processor, with an apt of its own: that of the machine stays as it is."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from image.commands import run

_UNUSED = (
    "dpkg", "perl", "tar", "install-info", "mailcap", "mime-support", "readline-common", "libdb5.3",
    "libgdbm", "libperl", "libsqlite3", "libreadline", "libncursesw", "libacl", "libselinux", "libpcre2",
    "libmd0", "libzstd", "gcc-12-base", "libtinfo",
)  # fmt: skip
"""Packages that others need only to be installed, or for modules that are never imported."""
_LEFT_OUT = (
    "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/binfmts",
    "usr/share/python3", "usr/share/applications", "usr/share/pixmaps", "usr/share/bug",
)  # fmt: skip
_RELATIONS = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")


@dataclass(frozen=True, slots=True)
class Packages:
    """Lists of packages for one processor, from the sources that this machine names."""

    folder: Path
    arch: str

    @classmethod
    def listed(cls, folder: Path, arch: str) -> Self:
        """Fetch the lists into a new folder."""
        for each in ("state/lists/partial", "cache/archives/partial", "files"):
            (folder / each).mkdir(parents=True)
        (folder / "status").touch()
        packages = cls(folder, arch)
        packages._apt("apt-get", "-q", "update")
        return packages

    def unpack(self, tree: Path, *names: str) -> None:
        """Unpack packages and what they depend on, without what only the package manager needs."""
        self._apt("apt-get", "-q", "download", *self._closure(*names))
        for package in sorted((self.folder / "files").glob("*.deb")):
            run(["dpkg-deb", "--extract", str(package), str(tree)])
        for unused in _LEFT_OUT:
            shutil.rmtree(tree / unused, ignore_errors=True)

    def _closure(self, *names: str) -> Sequence[str]:
        words = [f"--no-{each}" for each in _RELATIONS]
        listed = self._apt("apt-cache", "depends", "--recurse", *words, *names)
        found = {line for line in listed.splitlines() if line and line[0].isalnum()}
        return sorted(name for name in found if not name.startswith(_UNUSED))

    def _apt(self, program: str, *words: str) -> str:
        settings = {
            "Dir::State": self.folder / "state",
            "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder / "cache",
            "APT::Architecture": self.arch,
            "APT::Architectures": self.arch,
            "APT::Sandbox::User": "root",
        }
        options = [f"--option={name}={value}" for name, value in settings.items()]
        return run([program, *options, *words], at=self.folder / "files")
