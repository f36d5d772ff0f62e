"""Replaces the uids of a file with the new ones, wherever objects refer to each other."""

import re
from collections.abc import Iterable

_UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class NewUids:
    """The new uids of objects, by their uids in the file."""

    def __init__(self) -> None:
        """Begin without any."""
        self._new: dict[bytes, bytes] = {}

    def note(self, old: str, new: str) -> None:
        """Note the new uid of an object."""
        if old and new:
            self._new[old.encode()] = new.encode()

    def knows(self, old: str) -> bool:
        """Return whether the new uid of an object is known."""
        return old.encode() in self._new

    def missing(self, owners: Iterable[str]) -> list[str]:
        """Return the owners whose new uids are not known."""
        return [uid for uid in owners if not self.knows(uid)]

    def followed(self, body: bytes) -> bytes:
        """Return an object as JSON, with references to the new objects.

        References are owners, the claim of a volume, and labels of a Job's pods. A uid is replaced wherever it
        occurs, because no other text looks like one.
        """
        return _UID.sub(lambda found: self._new.get(found[0], found[0]), body)
