"""Sprig's functions for the case of texts: https://pkg.go.dev/github.com/huandu/xstrings."""

import unicodedata
from collections.abc import Iterator

_NUMBER, _UPPER, _LETTERS, _CONNECTOR, _PUNCTUATION, _OTHER, _END = range(7)


def joined_words(text: str, connector: str) -> str:
    """Return a text in lower case with a connector between its words: `http_status_2xx`."""
    words = [*_words(text), (_END, "")]
    written: list[str] = []
    at = 0
    while words[at][0] != _END:
        kind, word = words[at]
        at += 1
        if kind == _CONNECTOR:
            written.append(connector * len(word))
            continue
        written.append(word.lower() if kind == _UPPER else word)
        if kind == _PUNCTUATION:
            continue
        if kind != _NUMBER and words[at][0] == _NUMBER:
            after = words[at + 1][0]
            # A number belongs to the word before, unless lower case or nothing follows.
            written += [connector] * (after == _LETTERS)
            if after == _END:
                continue
            kind = _NUMBER if after == _LETTERS else kind
            written.append(words[at][1])
            at += 1
        if kind == _NUMBER:
            at = _take_letters(words, at, written)
        if words[at][0] not in {_CONNECTOR, _PUNCTUATION, _END}:
            written.append(connector)
    return "".join(written)


def _take_letters(words: list[tuple[int, str]], at: int, written: list[str]) -> int:
    """Take what belongs to a number: the letters in lower case and the numbers after it."""
    while words[at][0] in {_LETTERS, _NUMBER}:
        written.append(words[at][1])
        at += 1
    return at


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text into words, at signs and where lower case becomes upper case."""
    at = 0
    while at < len(text):
        end = _end(text, at)
        yield _kind(text[at]), text[at:end]
        at = end


def _end(text: str, at: int) -> int:
    kind = _kind(text[at])
    end = at + 1
    if kind == _UPPER:
        while end < len(text) and _kind(text[end]) == _UPPER:
            end += 1
        if end == at + 1:
            while end < len(text) and _kind(text[end]) == _LETTERS:
                end += 1
        elif end < len(text) and _kind(text[end]) == _LETTERS:
            end -= 1  # "HTTPStatus" is "HTTP" and "Status"
        return end
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return end


def _kind(character: str) -> int:
    category = unicodedata.category(character)
    if character in "-_" or character.isspace():
        return _CONNECTOR
    if category[0] == "P":
        return _PUNCTUATION
    if category == "Lu":
        return _UPPER
    if category in {"Ll", "Lt"}:
        return _LETTERS
    if category[0] == "N":
        return _NUMBER
    return _OTHER


def pascal_case(text: str) -> str:
    """Return the words of a text in one, each with a capital: `SomeWords`."""
    lead = next((n for n, c in enumerate(text) if _kind(c) != _CONNECTOR), len(text))
    if lead == len(text):
        return text + text[-1:]
    written = [text[:lead], text[lead].upper()]
    in_capitals = text[lead].isupper()
    for at in range(lead + 1, len(text)):
        character = text[at]
        if _kind(character) == _CONNECTOR:
            # Of connectors in a row, the last one goes; at the end, it stays.
            is_kept = at + 1 == len(text) or _kind(text[at + 1]) == _CONNECTOR
            written.append(character if is_kept else "")
        elif _kind(text[at - 1]) == _CONNECTOR:
            written.append(character.upper())
            in_capitals = character.isupper()
        else:
            in_capitals = in_capitals and character.isupper()
            written.append(character.lower() if in_capitals else character)
    return "".join(written)


def swapped_case(text: str) -> str:
    """Return a text with upper case for lower case, and the reverse."""
    return "".join(c.lower() if c.isupper() or c.istitle() else upper_case(c) for c in text)


def upper_case(text: str) -> str:
    """Return a text in upper case; a letter that becomes several stays, such as `ß`."""
    upper = text.upper()
    if len(upper) == len(text):
        return upper
    return "".join(c if len(c.upper()) > 1 else c.upper() for c in text)
