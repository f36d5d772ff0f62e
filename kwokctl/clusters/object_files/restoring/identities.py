"""Follows objects to their new uids: all that names one by its uid names the new one."""

import re
from collections.abc import Iterable

_UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class NewUids:
    """The uids of objects in the file, and those that they have now."""

    def __init__(self) -> None:
        """Begin without any."""
        self._new: dict[bytes, bytes] = {}

    def note(self, old: str, new: str) -> None:
        """Note the new uid of an object."""
        if old and new:
            self._new[old.encode()] = new.encode()

    def knows(self, old: str) -> bool:
        """Tell whether an object has come to its new uid."""
        return old.encode() in self._new

    def missing(self, owners: Iterable[str]) -> list[str]:
        """Return those of some uids that are not known."""
        return [uid for uid in owners if not self.knows(uid)]

    def followed(self, body: bytes) -> bytes:
        """Return an object whose references lead to the new objects.

        That is owners, the claim of a volume, and the labels of a Job's pods: a uid is unlike any
        other text.
        """
        return _UID.sub(lambda found: self._new.get(found[0], found[0]), body)
