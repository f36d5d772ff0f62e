"""Finds a patch release whose modules a Go module proxy has, near a release with missing modules. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

_PATCH = re.compile(r"v\d+\.(\d+)\.(\d+)")
_LACKING = re.compile(r"\S+@v\S+: (?:verifying \S+ )?(?:\S+: )?reading \S+")
"""Go's message about a module that it cannot get: `k8s.io/cri-api@v0.34.8: reading https://…: 403 Forbidden`."""


def is_lacking(output: str | None) -> bool:
    """Return whether Go ended because a module is missing, or its checksum is."""
    return bool(_LACKING.search(output or ""))


def nearest(
    version: str, needed: Collection[str], versions: Mapping[str, Iterable[str]]
) -> str | None:
    """Return the patch of the same minor release that is most complete, and of those the nearest.

    `versions` are those that the proxy lists of each module; all of the modules `needed` must have
    the patch, and as many of the others as possible. A proxy may have more than it lists.
    """
    minor, patch = _parts(version)
    listed = {module: _patches(minor, its) - {patch} for module, its in versions.items()}
    usable = set.intersection(*(listed.get(module, set()) for module in needed))
    if not usable:
        return None
    count = Counter(each for patches in listed.values() for each in patches)
    best = min(usable, key=lambda each: (-count[each], abs(each - patch)))
    return f"{version.rpartition('.')[0]}.{best}"


def _patches(minor: int, versions: Iterable[str]) -> set[int]:
    """Return the patches of a minor release; pre-releases are left out."""
    found = (_PATCH.fullmatch(version) for version in versions)
    return {int(match[2]) for match in found if match and int(match[1]) == minor}


def _parts(version: str) -> tuple[int, int]:
    match = _PATCH.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
