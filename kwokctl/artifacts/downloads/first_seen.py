"""Remembers the checksums of first downloads, for files whose project publishes no checksum.

`FOLDER/DIGEST.json` holds an address and the SHA-256 of what came from there.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from kwokctl.artifacts.downloads.transfer import public
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
