"""Reads published `go.mod` files, and writes the one of the scratch module that programs are built in.

Pure text. The form is that of https://go.dev/ref/mod#go-mod-file.
"""

import re
from collections.abc import Iterable, Mapping

_GO = re.compile(r"^go (\S+)", re.MULTILINE)
_STAGED = re.compile(r"^\s*(?:require\s+)?(\S+) v0\.0\.0\s*(?://.*)?$", re.MULTILINE)
_GODEBUG_LINE = re.compile(r"^godebug (\w+=\S+)", re.MULTILINE)
_GODEBUG_BLOCK = re.compile(r"^godebug \((.*?)^\)", re.MULTILINE | re.DOTALL)
_VERSION = re.compile(r"(?<=\s)v[0-9]\S*")
_RELEASE = re.compile(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?(rc|beta|alpha)?")

Release = tuple[int, int, int]


def release(text: str) -> Release:
    """Return a Go release as numbers that can be compared: `go1.26.8` is `(1, 26, 8)`.

    A release candidate comes before the release; what cannot be read is older than all.
    """
    match = _RELEASE.search(text)
    if match is None:
        return (0, 0, 0)
    patch = -1 if match[4] else int(match[3] or 0)
    return (int(match[1]), int(match[2]), patch)


def needed(published: str) -> Release:
    """Return the oldest Go release that a module can be built with."""
    match = _GO.search(published)
    return release(match[1]) if match else (1, 16, 0)


def staged(published: str) -> list[str]:
    """Return the modules that are developed in the same tree: those required at exactly v0.0.0.

    That version cannot be fetched; they are published with the version of the whole.
    """
    return sorted(set(_STAGED.findall(published)))


def scratch(published: Mapping[str, str], *, version: str) -> str:
    """Write the `go.mod` of a module that only serves to build programs of others.

    `published` is the `go.mod` of each module that is built from, by path; `version` is the Go
    version of all of them, such as `v1.36.3`. Replacements and debug settings count only in the
    main module, so those of the published modules are repeated here.
    """
    texts = published.values()
    oldest = max(map(needed, texts))
    lines = ["module scratch", "", f"go {'.'.join(map(str, oldest))}", ""]
    lines += [f"godebug {setting}" for setting in sorted(set(_godebug(texts)))]
    lines += [f"require {path} {version}" for path in sorted(published)]
    for path in sorted({path for text in texts for path in staged(text)}):
        lines.append(f"replace {path} => {path} {_staged_version(version)}")
    return "\n".join(lines) + "\n"


def with_versions(published: str, instead: Mapping[str, str]) -> str:
    """Put other versions into a `go.mod`, wherever it has one of these."""
    return _VERSION.sub(lambda found: instead.get(found[0], found[0]), published)


def linker_flags(version: str, stamped: Iterable[str]) -> str:
    """Return the flags that leave out debug tables and set the version in packages.

    The variables are those that Kubernetes' own build sets. A module does not carry its commit.
    """
    major, minor, *_ = version.removeprefix("v").split(".")
    words = ["-s", "-w"]
    for package in stamped:
        for variable, value in (
            ("gitVersion", version),
            ("gitMajor", major),
            ("gitMinor", minor),
            ("gitTreeState", "clean"),
            ("gitCommit", ""),
        ):
            words += ["-X", f"{package}.{variable}={value}"]
    return " ".join(words)


def _staged_version(version: str) -> str:
    """Return the version of a staging module: that of v1.36.3 is v0.36.3."""
    return re.sub(r"^v1\.", "v0.", version)


def _godebug(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        yield from _GODEBUG_LINE.findall(text)
        for block in _GODEBUG_BLOCK.findall(text):
            yield from re.findall(r"^\s*(\w+=\S+)", block, re.MULTILINE)
