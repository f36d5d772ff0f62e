"""What cuts the objects out of the text of a list."""

from kwokctl.kube.collections import paging
from kwokctl.kube.collections.paging import ListCutter
from tests.support.mutants.mutant import Mutant

_UNKNOWN = "not self._open and not self._find_first()"
_BEGINS = "found and is_whole and key.startswith(b'{\"')"

MUTANTS = (
    # Where one object ends and the next begins.
    Mutant(ListCutter.feed, "self._rest += piece", "self._rest = piece"),
    Mutant(ListCutter.feed, _UNKNOWN, "not self._find_first()"),
    Mutant(ListCutter.feed, _UNKNOWN, "not self._open"),
    Mutant(ListCutter.feed, _UNKNOWN, "False"),
    Mutant(ListCutter.feed, "if _is_object(whole)", "if True"),
    Mutant(ListCutter.feed, "if _is_object(whole)", "if False"),
    Mutant(ListCutter.feed, 'begun + b"}"', "begun"),
    Mutant(ListCutter.feed, "begun = self._open + part", "begun = part"),
    Mutant(ListCutter.feed, "begun += self._joint + part", "begun += part"),
    Mutant(ListCutter.feed, "begun += self._joint + part", "begun = self._joint + part"),
    Mutant(ListCutter.feed, "self._rest = begun", "pass"),
    Mutant(ListCutter.feed, "self._rest = begun", 'self._rest = b""'),
    Mutant(paging._is_object, "except msgspec.DecodeError", "except msgspec.ValidationError"),
    Mutant(paging._is_object, "return False", "return True"),
    # Where the first object begins.
    Mutant(
        ListCutter._find_first,
        _BEGINS,
        _BEGINS.removeprefix("found and "),
        equivalent="nothing follows what is not there, so there is no whole key",
    ),
    Mutant(
        ListCutter._find_first,
        _BEGINS,
        _BEGINS.replace("is_whole and ", ""),
        equivalent="by a part of the key the text is cut at more places, and joined there again",
    ),
    Mutant(
        ListCutter._find_first,
        _BEGINS,
        "found and is_whole",
        equivalent="after an empty list, which has no object that could be cut",
    ),
    Mutant(ListCutter._find_first, _BEGINS, "found"),
    Mutant(ListCutter._find_first, "before + found, after", "before, after"),
    Mutant(ListCutter._find_first, "before + found, after", "before + found, self._rest"),
    Mutant(ListCutter._find_first, 'b"}," + self._open', "self._open"),
    Mutant(ListCutter._find_first, "return True", "return False"),
    # What is there at the end.
    Mutant(ListCutter.end, "self._head + self._rest", "self._rest"),
    Mutant(ListCutter.end, "raise lost(BY_SERVER) from e", "raise"),
    Mutant(vars(paging.ListPage)["objects"].fget, "self.items or []", "self.items"),
)
"""One for each condition, and for each text that is joined."""
