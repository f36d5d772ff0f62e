"""From what is wanted to where each program lies, or is to be had."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from kwokctl.artifacts.programs import PROGRAMS, named
from kwokctl.artifacts.target import Platform
from kwokctl.host.paths import expanded

GIVEN = "@"
"""Stands, in the store's version of a program from an address that the user gave, before its mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedProgram:
    """A program that is needed."""

    name: str
    version: str
    explicit: str | None = None
    """A path, a command, an address or `ADDRESS#MEMBER` that the user has given for it; then it
    may be a program that we know nothing else of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A program that the user has on this machine."""

    name: str
    version: str
    value: str
    """As the user gave it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A program that must come into the store."""

    name: str
    version: str
    key: str
    """Its version in the store."""
    batch: str
    """Orders of one batch are got together, under one lock of this name."""
    url: str
    """Where it is published; a path if it is in an archive on this machine."""
    member: str = ""
    """The file in the archive at `url`; empty if that is the program itself."""
    official: bool = True
    """Whether it is the project's own release, so that it may as well be built."""


def place(
    wanted: WantedProgram, target: Platform, prefixes: Mapping[str, str] | None = None
) -> Local | Order:
    """Tell where a program lies or is to be had.

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
    if prefix := (prefixes or {}).get(group.name):
        value = f"{prefix.rstrip('/')}/{file}"
        return _given(wanted.name, version, f"{value}#{member}" if member else value)
    return Order(
        name=wanted.name,
        version=version,
        key=version,
        batch=f"{group.name}-{version}",
        url=f"{group.address(version, target)}/{file}",
        member=member,
    )


def is_url(value: str) -> bool:
    """Tell whether a value that a user gave is an address rather than a path."""
    return value.startswith(("http://", "https://"))


def _given(name: str, version: str, value: str) -> Local | Order:
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
    mark = hashlib.sha256(seed.encode()).hexdigest()[:16]
    return Order(
        name=name,
        version=version,
        key=f"{version}{GIVEN}{mark}",
        batch=f"given-{mark}",
        url=url,
        member=member,
        official=False,
    )
