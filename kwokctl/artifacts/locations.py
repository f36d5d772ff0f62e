"""Determines where each wanted program is on this machine, or where it is published."""

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import msgspec

from kwokctl.artifacts.module_parts import ModulePart, is_module_part, module_part
from kwokctl.artifacts.program_platform import Platform
from kwokctl.artifacts.programs import PROGRAMS, checksums, named, pinned
from kwokctl.errors import ArtifactError
from kwokctl.host.paths import expanded
from kwokctl.model import Artifact
from kwokctl.replacing import replace

GIVEN = "@"
"""Separates version and digest in the store, for a program from an address that the user gave."""

_PIN = "@sha256:"
"""Stands between an address that the user gives and what the file there must be."""
_WHOLE_PIN = re.compile(rf"{_PIN}([0-9a-fA-F]{{64}})(?=#|$)")


class WantedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is needed."""

    name: str
    version: str
    explicit: str | None = None
    """A path, a command, an address, `ADDRESS#MEMBER` or a part of a Go module that the user has
    given for it; then it may be a program that we know nothing else of."""


class Local(msgspec.Struct, frozen=True, kw_only=True):
    """A program that the user has on this machine."""

    name: str
    version: str
    value: str
    """As the user gave it."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A program that must come into the store."""

    name: str
    version: str
    key: str
    """Its version in the store."""
    batch: str
    """Orders of one batch are got together, under one lock of this name."""
    url: str
    """The address of the download; a path for a file in an archive on this machine."""
    member: str = ""
    """The file in the archive at `url`; empty if that is the program itself."""
    sums: tuple[str, ...] = ()
    """The addresses of the SHA-256 of the file at `url`; the first that has one counts."""
    sha256: str = ""
    """The SHA-256 that the user has given."""
    pinned: str = ""
    """The SHA-256 that is pinned in kwokctl."""
    official: bool = True
    """Whether it is the project's own release, so that it may as well be built."""
    part: ModulePart | None = None
    """The part of a Go module that it is; then it is at no address."""


def place(
    wanted: WantedProgram, target: Platform, prefixes: Mapping[str, str] | None = None
) -> Local | Order:
    """Return where a program is on this machine, or where it is published.

    `prefixes` names, by group, an address or a folder that holds a release's files in place of
    the project's.
    """
    if wanted.explicit and wanted.name not in PROGRAMS:
        return _given(wanted.name, wanted.version, wanted.explicit)
    group = named(wanted.name).group
    version = group.canonical(wanted.version)
    if wanted.explicit:
        return _given(wanted.name, version, wanted.explicit)
    file = group.filename(wanted.name, version, target)
    member = wanted.name if group.archive else ""
    url = f"{group.address(version, target)}/{file}"
    official = Order(
        name=wanted.name,
        version=version,
        key=version,
        batch=f"{group.name}-{version}",
        url=url,
        member=member,
        sums=(_sums(wanted.name, url),) if group.sums else (),
        pinned=pinned(group.name, version, file),
    )
    if prefix := (prefixes or {}).get(group.name):
        value = f"{prefix.rstrip('/')}/{file}"
        given = _given(wanted.name, version, f"{value}#{member}" if member else value)
        return given if isinstance(given, Local) else _mirrored(given, official)
    return official


def is_url(value: str) -> bool:
    """Return whether a value that a user gave is an address rather than a path."""
    return value.startswith(("http://", "https://"))


def split_pin(value: str) -> tuple[str, str]:
    """Part an address from the SHA-256 in it, `@sha256:…`; ValueError for one that is not whole."""
    if _PIN not in value:
        return value, ""
    found = _WHOLE_PIN.search(value)
    if found is None:
        raise ValueError(value)
    return value[: found.start()] + value[found.end() :], found[1].lower()


def _mirrored(order: Order, official: Order) -> Order:
    """Use the project's own checksum where a mirror has none."""
    return replace(order, sums=(*order.sums, *official.sums), pinned=official.pinned)


def _sums(name: str, url: str) -> str:
    """Return where the checksum of a file is published that is at this address."""
    return urljoin(url, checksums(name, unquote(urlsplit(url).path).rpartition("/")[2]))


def _given(name: str, version: str, value: str) -> Local | Order:
    if is_module_part(value):
        return _of_module(name, module_part(value))
    value, sha256 = split_pin(value) if is_url(value) else (value, "")
    url, _, member = value.partition("#")
    seed = url
    if not is_url(value):
        if not member or expanded(value).exists():
            return Local(name=name, version=version, value=value)
        archive = expanded(url).absolute()
        url = seed = str(archive)
        if archive.is_file():
            status = archive.stat()
            seed = f"{url} {status.st_size} {status.st_mtime_ns}"
    mark = hashlib.sha256(f"{seed}{sha256}".encode()).hexdigest()[:16]
    return Order(
        name=name,
        version=version,
        key=f"{version}{GIVEN}{mark}",
        batch=f"given-{mark}",
        url=url,
        member=member,
        sums=(_sums(name, url),) if is_url(url) else (),
        sha256=sha256,
        official=False,
    )


def _of_module(name: str, part: ModulePart) -> Order:
    mark = hashlib.sha256(str(part).encode()).hexdigest()[:16]
    module = hashlib.sha256(f"{part.module}@{part.version}".encode()).hexdigest()[:16]
    return Order(
        name=name,
        version=part.version,
        key=f"{part.version}{GIVEN}{mark}",
        batch=f"module-{module}",
        url="",
        official=False,
        part=part,
    )


def local_artifact(local: Local) -> Artifact:
    """Return the program at the path that the user gave, or the command of that name.

    A bare name that is no file here is looked up on PATH. Raises ArtifactError unless it is a
    file that can be executed.
    """
    path = expanded(local.value)
    if "/" not in local.value and not path.is_file():
        path = Path(shutil.which(local.value) or path)
    if not path.exists():
        raise _unfit(local, "does not exist")
    if not path.is_file():
        raise _unfit(local, "is not a file")
    if not os.access(path, os.X_OK):
        raise ArtifactError(
            f"'{local.value}', given for {local.name}, is not executable",
            hint=f"run 'chmod +x {path}' if it is the right file",
        )
    return Artifact(name=local.name, version=local.version, command=(str(path.absolute()),))


def _unfit(local: Local, why: str) -> ArtifactError:
    return ArtifactError(
        f"'{local.value}', given for {local.name}, {why}",
        hint=f"give '--{local.name}-binary' the path of a program, an address, or ADDRESS#MEMBER, "
        "or leave it out",
    )
