"""Says what is wrong with a jq program, and where: the interpreter counts characters to the end of a word."""

import re

from kwokctl.expr.line_column import line_and_column

_POSITION = re.compile(r" at position (\d+)")
_WORD = re.compile(r"(?:token|keyword|got [A-Z]+|got) \[?'([^']+)'")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPE = re.compile(r"escape sequence (\S+)")


def mistake(source: str, problem: str) -> str:
    """Return the error for what the interpreter says of a program."""
    words = _POSITION.sub("", problem).replace("token None", "end").replace("EOF None", "the end")
    return _said(source, words[:1].lower() + words[1:], _offset(source, problem))


def unknown(source: str, name: str) -> str:
    """Return the error for an unknown function, `name/2`, or an unknown variable, `$name`."""
    word = re.escape(name.partition("/")[0])
    found = re.search(rf"(?<![\w.$@]){word}\b", source)
    return _said(source, f"'{name}' is not defined", found.start() if found else 0)


def _said(source: str, problem: str, at: int) -> str:
    return f"'{source}' is not a jq program: {problem}, at {line_and_column(source, at)}"


def _offset(source: str, problem: str) -> int:
    """Return where the word begins that is wrong; of a text without an end, its beginning."""
    position = _POSITION.search(problem)
    if position is None:
        escape = _ESCAPE.search(problem)
        blanked = _TEXT.sub(lambda text: " " * len(text[0]), source)
        return max(source.find(escape[1]) if escape else blanked.find('"'), 0)
    at = int(position[1])
    word = _WORD.search(problem)
    if word and source[at - len(word[1]) : at] == word[1]:
        return at - len(word[1])
    return at
