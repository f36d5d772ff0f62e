"""Finds out what a file must be before it is trusted: its SHA-256, from its user, its project or before."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kwokctl.artifacts.downloads import first_seen
from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import Transfer, filename
from kwokctl.artifacts.locations import Order

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class Expected(msgspec.Struct, frozen=True):
    """The checksum that a file must have, and who published it."""

    sha256: str
    """Empty if nothing says it."""
    source: str
    """`given` by the user, `pinned` in kwokctl, `published`, `recorded` at the first download, or
    `none`."""


NOTHING = Expected("", "none")


def expected(order: Order, transfer: Transfer, records: Path) -> Expected | Trouble:
    """Return what the file of an order must be, or why that is not known.

    A project's own release is not used without its checksum if it publishes some. `records` is the
    folder of `first_seen`.
    """
    if order.sha256:
        return Expected(order.sha256, "given")
    if order.pinned:
        return Expected(order.pinned, "pinned")
    first: Trouble | None = None
    for address in order.sums:
        found = _published(order.url, transfer.text(address))
        if isinstance(found, Expected):
            return found
        first = first or found
    if first and (order.official or first.unreachable or first.passing):
        return first
    before = first_seen.sum_before(records, order.url)
    return Expected(before, "recorded") if before else NOTHING


def _published(url: str, sums: str | Trouble) -> Expected | Trouble:
    if isinstance(sums, Trouble):
        return sums
    file = filename(url)
    if found := checksum(sums, file):
        return Expected(found, "published")
    return Trouble(urlsplit(url).hostname or url, f"publishes no checksum of '{file}'")


def checksum(text: str, file: str) -> str | None:
    """Return the SHA-256 of `file` in a published list, or of the only file if it has no names."""
    for line in text.splitlines():
        words = line.split()
        if not words or not _SHA256.fullmatch(words[0]):
            continue
        if len(words) == 1 or words[-1].removeprefix("*") == file:
            return words[0].lower()
    return None
