"""Takes the texts out of an object's JSON in which objects that are alike differ. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kwokctl.kube.statuses.leaves import Time, is_address

_WORDS = re.compile(r"[A-Za-z0-9._:-]+")
_TIMES = re.compile(
    rb'"(20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z)"'
)
_ACCOUNT = re.compile(rb'"(kube-api-access-[a-z0-9]{5})"')
"""The volume of a service account, which the API server adds to a pod, ends at random."""
_HAS_ADDRESS = b'IP":"'
_ADDRESSES = re.compile(rb'"(?:hostIP|podIP|ip)":"([0-9A-Fa-f.:]+)"')
_CONTAINERS = re.compile(rb'"containerID":"([!#-\[\]-~]+)"')
"""The addresses of a pod that has started, and the identifiers of its containers."""
_MOST_WORDS = 30
TIME = b'"\x00"'
MARKS = re.compile(rb'"([\x00-\x1f])(\x06?)"')
"""The places of texts: the number of a word, from 1 on, a zero for each time, or `VERSION`.

A second character marks an address of IPv6: objects with others have another outline.
"""
VERSION = 31
"""The mark of the object's version."""


class Outline(NamedTuple):
    """An object without what is its own."""

    text: bytes
    """Its JSON, with control characters, which JSON never has, where its own texts were."""
    holes: tuple[str, ...]
    """Its own texts: its name, uid and node, then any others, at last times."""
    addresses: range
    """The range of the texts that are addresses."""


def outline_of(raw: bytes, words: tuple[str, ...], version: int) -> Outline | None:
    """Return the outline of an object in compact JSON; None if it has none.

    `words` are its name, uid and node, which are taken out wherever they are whole texts.
    """
    text = raw.replace(b'"resourceVersion":"%d"' % version, b'"resourceVersion":"\x1f"')
    for number, word in enumerate(words, 1):
        if _WORDS.fullmatch(word) is None:
            return None
        text = text.replace(b'"%b"' % word.encode(), b'"%c"' % number)
    account = _ACCOUNT.search(text)
    if account is not None:
        words = (*words, account[1].decode())
        text = text.replace(account[0], b'"%c"' % len(words))
    addresses = range(0)
    if _HAS_ADDRESS in text:
        first = len(words)
        text, words = _without(text, words, [a for a in _found(_ADDRESSES, text) if is_address(a)])
        addresses = range(first, len(words))
        text, words = _without(text, words, _found(_CONTAINERS, text))
    parts = _TIMES.split(text)
    try:
        times = tuple(map(_time, parts[1::2]))
    except ValueError:
        return None
    return Outline(TIME.join(parts[::2]), words + times, addresses)


def _found(pattern: re.Pattern[bytes], text: bytes) -> list[str]:
    """Return the texts that a pattern finds, each of them once."""
    return [each.decode() for each in dict.fromkeys(pattern.findall(text))]


def _without(
    text: bytes, words: tuple[str, ...], more: Sequence[str]
) -> tuple[bytes, tuple[str, ...]]:
    """Take more words out of a text, as far as there are marks for them."""
    for word in more[: _MOST_WORDS - len(words)]:
        words = (*words, word)
        family = b"\x06" if ":" in word and is_address(word) else b""
        text = text.replace(b'"%b"' % word.encode(), b'"%c%b"' % (len(words), family))
    return text, words


@lru_cache(4096)
def _time(text: bytes) -> str:
    """Return a time, the same text for all objects; ValueError for what only looks like one."""
    found = text.decode()
    if not Time.accepts(found):
        raise ValueError(f"'{found}' is no time")
    return found
