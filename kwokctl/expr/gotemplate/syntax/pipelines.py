"""Reads the text between the braces of a template."""

import re
from math import isfinite

from kwokctl.expr.gotemplate.syntax.template_lexer import Cursor, TemplateSource, Token
from kwokctl.expr.gotemplate.syntax.template_nodes import (
    Dot,
    Fields,
    Function,
    Literal,
    Operand,
    Pipeline,
    PipelineCommand,
    Variable,
)

_NUMBER = re.compile(
    r"""(?x)
    (?P<sign>[-+]?)
    (?: (?P<base>0[xXoObB])_?(?P<digits>[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)
      | (?P<octal>0[0-7]+(?:_[0-7]+)*)
      | (?P<decimal>0|[1-9][0-9]*(?:_[0-9]+)*)
      | (?P<float>(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)
          (?:[eE][-+]?[0-9]+)?)
    )"""
)
_BASES = {"x": 16, "o": 8, "b": 2}
_ESCAPE = re.compile(
    r"""(?x)\\(?:
      (?P<simple>[abfnrtv\\'"])
    | x(?P<byte>[0-9a-fA-F]{2})
    | (?P<octal>[0-7]{3})
    | u(?P<short>[0-9a-fA-F]{4})
    | U(?P<long>[0-9a-fA-F]{8})
    | (?P<wrong>.)
    )"""
)
_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


def number(text: str) -> int | float:
    """Return the value of a number; raise ValueError if it is invalid."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a number")
    if match["float"]:
        value = float(text.replace("_", ""))
        if not isfinite(value):
            raise ValueError(f"'{text}' is too large a number")
        return value
    sign = -1 if match["sign"] == "-" else 1
    if match["base"]:
        return sign * int(match["digits"].replace("_", ""), _BASES[match["base"][1].lower()])
    if match["octal"]:
        return sign * int(match["octal"].replace("_", ""), 8)
    return sign * int(match["decimal"].replace("_", ""))


def unquote(text: str) -> str:
    """Return the text in double or back quotes; raise ValueError for a wrong escape."""
    inner = text[1:-1]
    if text[0] == "`":
        return inner.replace("\r", "")
    if "\\" not in inner:
        return inner
    # Bytes written one by one must add up to UTF-8; `surrogateescape` holds them until then.
    raw = _ESCAPE.sub(_unescaped, inner)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def character(text: str) -> int:
    """Return the code point in single quotes; raise ValueError if there is not exactly one."""
    inner = unquote(text)
    if len(inner) != 1 or text == "'\\\"'":
        raise ValueError(f"{text} is not one character")
    return ord(inner)


def _unescaped(match: re.Match[str]) -> str:
    if match["simple"]:
        return _SIMPLE[match["simple"]]
    if match["byte"] or match["octal"]:
        value = int(match["byte"], 16) if match["byte"] else int(match["octal"], 8)
        if value > 0xFF:
            raise ValueError(f"'{match[0]}' is not a byte")
        return chr(value) if value < 0x80 else chr(0xDC00 + value)
    if match["wrong"]:
        raise ValueError(f"'{match[0]}' is not an escape")
    point = int(match["short"] or match["long"], 16)
    if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        raise ValueError(f"'{match[0]}' is not a character")
    return chr(point)


KEYWORDS = frozenset(
    {"block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"}
)
_CONSTANTS = {"true": True, "false": False, "nil": None}


class PipelineReader:
    """Reads pipelines, and keeps the variables that are in scope."""

    def __init__(self, source: TemplateSource, cursor: Cursor) -> None:
        """Read from `cursor`, which others move, too."""
        self._source = source
        self._cursor = cursor
        self.variables = ["$"]
        self.assigned: set[str] = set()
        """The variables that are set again after they were declared."""
        self.functions: set[str] = set()

    def pipeline(self, end: str = "right", *, loop: bool = False) -> Pipeline:
        """Read a pipeline and its end, which is a `right` or a `close`.

        The variables it declares are in scope from then on.
        """
        at = self._cursor.solid().at
        names, declares = self._variables(loop=loop)
        commands = [self._command(is_first=True)]
        while (token := self._cursor.solid()).kind == "pipe":
            self._cursor.take()
            commands.append(self._command(is_first=False))
        if token.kind != end:
            self._source.fail(token.at, f"unexpected '{token.text or 'end of text'}'")
        self._cursor.take()
        if declares:
            self.variables += names
        return Pipeline(at=at, commands=tuple(commands), variables=names, declares=declares)

    def _variables(self, *, loop: bool) -> tuple[tuple[str, ...], bool]:
        """Read `$x :=`, `$x =` or, for a loop, `$i, $x :=`, if there is any of them."""
        ahead = self._cursor.ahead(4)
        kinds = [token.kind for token in ahead]
        if kinds[:2] == ["variable", "assign"]:
            count = 2
        elif loop and kinds == ["variable", "comma", "variable", "assign"]:
            count = 4
        else:
            return (), False
        self._cursor.skip(count)
        declares = ahead[count - 1].text == ":="
        targets = ahead[:count:2]
        for token in targets if not declares else []:
            self._known(token)
            self.assigned.add(token.text)
        return tuple(token.text for token in targets), declares

    def _known(self, token: Token) -> None:
        if token.text not in self.variables:
            self._source.fail(token.at, f"variable '{token.text}' is not defined")

    def _command(self, *, is_first: bool) -> PipelineCommand:
        token = self._cursor.solid()
        if token.kind in {"right", "pipe", "close"}:
            self._source.fail(token.at, "a value is missing here")
        operand = self._operand()
        if not is_first and isinstance(operand, Literal | Dot):
            self._source.fail(token.at, "nothing can be piped into a value")
        arguments: list[Operand] = []
        while self._cursor.peek().kind == "space":
            if self._cursor.solid().kind in {"right", "pipe", "close"}:
                break
            arguments.append(self._operand())
        following = self._cursor.peek()
        if following.kind not in {"right", "pipe", "close"}:
            self._source.fail(following.at, f"unexpected '{following.text or 'end of text'}'")
        if isinstance(operand, Literal) and operand.value is None:
            self._source.fail(token.at, "'nil' alone is not a value to work with")
        if arguments and isinstance(operand, Literal | Dot):
            self._source.fail(arguments[0].at, "only functions take arguments")
        return PipelineCommand(at=token.at, operand=operand, arguments=tuple(arguments))

    def _operand(self) -> Operand:
        token = self._cursor.take()
        operand = self._term(token)
        names: list[str] = []
        while self._cursor.peek().kind == "field":
            names.append(self._cursor.take().text[1:])
        if not names:
            return operand
        if isinstance(operand, Literal | Dot):
            self._source.fail(token.at, f"'{token.text}' has no fields")
        if isinstance(operand, Fields):
            names = [*operand.names, *names]
            operand = operand.operand
        return Fields(at=token.at, operand=operand, names=tuple(names))

    def _term(self, token: Token) -> Operand:
        match token.kind:
            case "field":
                dot = Dot(at=token.at)
                return Fields(at=token.at, operand=dot, names=(token.text[1:],))
            case "dot":
                return Dot(at=token.at)
            case "variable":
                self._known(token)
                return Variable(at=token.at, name=token.text)
            case "open":
                return self.pipeline("close")
            case "string" | "raw" | "number" | "character":
                return self.literal(token)
            case _:
                return self._word(token)

    def _word(self, token: Token) -> Operand:
        if token.kind != "word" or token.text in KEYWORDS:
            self._source.fail(token.at, f"unexpected '{token.text or 'end of text'}'")
        if token.text in _CONSTANTS:
            return Literal(at=token.at, value=_CONSTANTS[token.text])
        self.functions.add(token.text)
        return Function(at=token.at, name=token.text)

    def literal(self, token: Token) -> Literal:
        """Return the constant that a token spells."""
        try:
            value = _READ[token.kind](token.text)
        except ValueError as e:
            self._source.fail(token.at, str(e))
        return Literal(at=token.at, value=value)


_READ = {
    "string": unquote,
    "raw": unquote,
    "number": number,
    "character": character,
}
