"""Chooses the folder of a cluster's unix sockets: its own, or a short one elsewhere.

Socket paths are limited to about 107 bytes, and components get them as URLs in lists, which some characters
divide. So a cluster with a long or unusual path has a folder in that for temporary files, where every user may
make one: its name is random, so that no other user can take it before, and a note in the cluster's folder keeps it.
"""

import hashlib
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from kwokctl.host.own_folders import is_own_folder
from kwokctl.host.platforms import user_id

_LONGEST = 90
_LAST_RESORT = Path("/tmp")  # noqa: S108 - the folder made in it is its owner's alone
_DIVIDES_URLS = re.compile(r'[,%"#?\\\x00-\x1f\x7f]')

_chosen: dict[Path, Path] = {}
"""The folders that this process has named, which are noted when they are made, by the cluster's folder."""


def socket_folder(root: Path, note: Path) -> Path:
    """Return the folder for the sockets of the cluster in `root`.

    That of the note counts as long as it is there, or else the one that clusters had before there were
    notes: a cluster that was copied or moved has another, and so has one whose folder was removed.
    """
    inside = root / "run"
    if _holds_sockets(inside):
        return inside
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    name = f"kwokctl-{user_id()}-{digest}"
    former = (found for found in (_noted(note, name), _place(name)) if found and _is_there(found))
    return next(former, None) or _new(root, name)


def _noted(note: Path, name: str) -> Path | None:
    with suppress(OSError, UnicodeDecodeError):
        found = Path(note.read_text(encoding="utf-8").removesuffix("\n"))
        return found if found.name.startswith(name) else None
    return None


def _new(root: Path, name: str) -> Path:
    known = _chosen.get(root)
    if known is None or (os.path.lexists(known) and not _is_there(known)):
        known = _chosen[root] = _place(f"{name}-{secrets.token_hex(8)}")
    return known


def _place(name: str) -> Path:
    temporary = Path(tempfile.gettempdir()) / name
    return temporary if _holds_sockets(temporary) else _LAST_RESORT / name


def _is_there(folder: Path) -> bool:
    with suppress(OSError):
        return is_own_folder(folder)
    return False


def _holds_sockets(folder: Path) -> bool:
    is_short = len(os.fsencode(folder)) <= _LONGEST
    return is_short and not _DIVIDES_URLS.search(str(folder))
