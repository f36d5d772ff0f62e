"""The tokens of an expression, with the values of those that are literals.

The grammar is that of https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax.
"""

import re
from collections.abc import Iterator

import msgspec

from kwokctl.expr.cel.cel_errors import CelSourceError
from kwokctl.expr.cel.syntax.cel_nodes import CelLiteral
from kwokctl.expr.cel.values.arithmetic import Uint

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


WORDS = {"true": ("bool", True), "false": ("bool", False), "null": ("null", None)}
"""The literals that are words, with their types."""
_ESCAPE = re.compile(r"\\([xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|[\s\S])")
_PLAIN = {character: character for character in "\"'\\?`"} | {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_LARGEST = 2**63
_MOST_DIGITS = 1000
"""Of a whole number, zeros before it included: Python refuses to read one with more than some thousands."""


def literal(token: CelToken, sign: str = "", at: int | None = None) -> CelLiteral:
    """Return a literal, which may follow a minus; raise CelSourceError if it is too large."""
    at = token.at if at is None else at
    if token.kind == "double":
        return CelLiteral(at, "double", float(sign + token.text))
    if token.kind in {"int", "uint"}:
        return CelLiteral(at, token.kind, _whole(token, sign, at))
    if token.kind == "bytes":
        return CelLiteral(at, "bytes", _bytes(token))
    return CelLiteral(at, "string", _text(token))


def _whole(token: CelToken, sign: str, at: int) -> int:
    digits = token.text.rstrip("uU")
    if len(digits) > _MOST_DIGITS:
        raise CelSourceError(at, f"a number of {len(digits):,} digits has more than 64 bits")
    number = int(sign + digits, 16 if digits[:2] == "0x" else 10)
    if token.kind == "uint" and number < 2 * _LARGEST:
        return Uint(number)
    if token.kind == "int" and -_LARGEST <= number < _LARGEST:
        return number
    raise CelSourceError(at, f"{sign}{token.text} has more than 64 bits")


def _text(token: CelToken) -> str:
    body, is_raw = _body(token.text)
    return body if is_raw else _ESCAPE.sub(lambda match: _character(token, match[1]), body)


def _bytes(token: CelToken) -> bytes:
    body, is_raw = _body(token.text[1:])
    if is_raw:
        return body.encode()
    parts, at = [], 0
    for match in _ESCAPE.finditer(body):
        if match[1][0] in "uU":
            raise CelSourceError(token.at, f"bytes cannot have the escape '{match[0]}'")
        parts += [body[at : match.start()].encode(), _byte(token, match[1])]
        at = match.end()
    return b"".join([*parts, body[at:].encode()])


def _byte(token: CelToken, escape: str) -> bytes:
    character = _character(token, escape)
    return character.encode("latin-1" if escape[0] in "xX0123" else "utf-8")


def _body(quoted: str) -> tuple[str, bool]:
    """Remove the quotes; return whether backslashes are literal."""
    is_raw = quoted[0] in "rR"
    quoted = quoted[1:] if is_raw else quoted
    quotes = 3 if len(quoted) >= 6 and quoted[:3] == quoted[0] * 3 else 1
    return quoted[quotes:-quotes], is_raw


def _character(token: CelToken, escape: str) -> str:
    if escape[0] in "0123" and len(escape) == 3:
        return chr(int(escape, 8))
    if escape[0] in "xXuU" and len(escape) > 1:
        number = int(escape[1:], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise CelSourceError(token.at, f"'\\{escape}' is not a character")
        return chr(number)
    if escape not in _PLAIN:
        raise CelSourceError(token.at, f"the escape '\\{escape}' does not exist")
    return _PLAIN[escape]
