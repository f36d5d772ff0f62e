"""Cuts an expression into tokens.

The grammar is that of https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax.
"""

import re
from collections.abc import Iterator

import msgspec

from kwokctl.expr.cel.fault import CelSourceError

_QUOTED = "|".join(
    (
        r'[rR](?:"""[\s\S]*?"""|"[^"\n\r]*")',
        r"[rR](?:'''[\s\S]*?'''|'[^'\n\r]*')",
        r'"""(?:\\[\s\S]|[^\\])*?"""|"(?:\\.|[^\\"\n\r])*"',
        r"'''(?:\\[\s\S]|[^\\])*?'''|'(?:\\.|[^\\'\n\r])*'",
    )
)
_SPACE = re.compile(r"(?:[ \t\r\n\f]|//[^\n]*)*")
_TOKEN = re.compile(
    rf"(?P<bytes>[bB])?(?P<string>{_QUOTED})"
    r"|(?P<double>[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
    r"|\.[0-9]+(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{}])"
    r"|(?P<end>\Z)"
)


class CelToken(msgspec.Struct, frozen=True):
    """A piece of an expression; `kind` is `sign`, `word`, `end`, or the type of a literal."""

    kind: str
    text: str
    at: int


def cut(text: str) -> Iterator[CelToken]:
    """Yield the tokens, the end of the text last; raise CelSourceError where there is none."""
    at = _end(_SPACE, text, 0)
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise CelSourceError(at, _complaint(text[at]))
        kind = "bytes" if match["bytes"] else str(match.lastgroup)
        yield CelToken(kind, match[0], at)
        if kind == "end":
            return
        at = _end(_SPACE, text, match.end())


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match is not None else at


def _complaint(character: str) -> str:
    if character in "\"'":
        return "a quoted string is not closed"
    return f"'{character}' is unexpected here"
