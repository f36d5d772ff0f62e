"""Finds out what a file must be before it is trusted: its SHA-256, from its user, its project or before.

For files whose project publishes no checksum, that of the first download is remembered: `FOLDER/DIGEST.json` holds an
address and the SHA-256 of what came from there.
"""

import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import Transfer, filename, public
from kwokctl.artifacts.locations import Order
from kwokctl.host.files import write_atomic

_DIGITS = 16


def sum_before(folder: Path, url: str) -> str:
    """Return the SHA-256 that came from an address the first time; empty if none did."""
    with suppress(OSError, ValueError, KeyError):
        return str(json.loads(place(folder, url).read_bytes())["sha256"])
    return ""


def remember(folder: Path, url: str, sha256: str) -> None:
    """Note what came from an address."""
    file = place(folder, url)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Without what may be secret in the address.
    write_atomic(file, json.dumps({"url": public(url), "sha256": sha256}, indent=2) + "\n")


def place(folder: Path, url: str) -> Path:
    """Return the file that remembers an address; its name stands for all of the address."""
    return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:_DIGITS]}.json"


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
    folder in which `remember` has noted first downloads.
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
    before = sum_before(records, order.url)
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
