"""What decides which keys a rewind writes, and where it looks for those that are gone."""

from kwokctl.etcd.marks import mark_content, mark_difference, present
from kwokctl.etcd.marks.mark_content import Content
from kwokctl.etcd.marks.present import MissingKeys
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # The writes that lead back.
    Mutant(mark_difference.difference, "if now.lease or", "if"),
    Mutant(mark_difference.difference, "(then is not None and then.lease)", "False"),
    Mutant(mark_difference.difference, "elif then.value != now.value:", "else:"),
    Mutant(mark_difference.difference, "if then is None:", "if False:"),
    Mutant(mark_difference.difference, "then is not None and not", "not"),
    Mutant(mark_difference.difference, "and not then.lease", ""),
    # The search for keys that are gone.
    Mutant(
        MissingKeys.within,
        "if first == last:",
        "if False:",
    ),
    Mutant(MissingKeys._found, "if lost == 0:", "if False:"),
    Mutant(MissingKeys._found, "if lost == last - first:", "if False:"),
    Mutant(MissingKeys._found, "last - first <= FEW", "False"),
    Mutant(MissingKeys._found, "last - first <= FEW", "True"),
    Mutant(MissingKeys._found, "if key not in there", "if True"),
    Mutant(
        MissingKeys._lost, "bisect_left(self.others, end) - bisect_left(self.others, start)", "0"
    ),
    # The content of a mark.
    Mutant(Content.find, "if crc32(value) != entry.sum:", "if False:"),
    Mutant(Content.find, "if entry is None:", "if False:"),
    Mutant(
        Content.verify,
        "if not self._entries:",
        "if False:",
        equivalent="there is no value to compare, and the file is not empty",
    ),
    Mutant(Content.verify, "if crc32(value) != entry.sum:", "if False:"),
    Mutant(mark_content._index, "head != _MAGIC and head.startswith", "head.startswith"),
    Mutant(mark_content._index, "and head.startswith(_ANY_VERSION)", ""),
    Mutant(mark_content._index, "if head != _MAGIC or whole", "if whole"),
    Mutant(
        mark_content._index,
        "whole < len(_MAGIC) + _TAIL.size",
        "False",
        equivalent="the index of so short a file would begin within the head, which is refused, too",
    ),
    Mutant(mark_content._index, "if start < len(_MAGIC):", "if False:"),
    Mutant(mark_content._index, "if crc32(index) != expected:", "if False:"),
    # What there is now.
    Mutant(present.present_since, "baseline + 1", "baseline"),
    Mutant(present.present_since, "if item.key not in content", "if True"),
    Mutant(present.present_in_all, "if content.revision_of(key) != written", "if True"),
    Mutant(present.present_in_all, "key not in there and", ""),
    Mutant(present.present_in_all, "and _is_within(key, ranges)", ""),
    Mutant(present._is_within, "start <= key", "True"),
    Mutant(present._is_within, "key < end", "True"),
    Mutant(present._is_within, "key < end", "key <= end"),
    Mutant(present.pages_of, "if not page.more:", "if True:"),
)
"""One for each condition and comparison."""
