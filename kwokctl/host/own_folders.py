"""Tells whose a folder is, in a module that is quick to load."""

import os
from pathlib import Path

from kwokctl.host.platforms import NO_USERS


def is_own_folder(path: Path) -> bool:
    """Return whether a folder is this user's, and if it is a link, that, too."""
    me = os.geteuid() if hasattr(os, "geteuid") else NO_USERS
    # Looked at before it is followed: the kernel may refuse to follow another user's link
    # (protected_symlinks of proc(5)).
    return path.lstat().st_uid == me and path.is_dir() and path.stat().st_uid == me
