"""Reads an expression: the whole grammar of CEL with its macros, but no messages and no optional values."""

from typing import NoReturn

from kwokctl.expr.cel.cel_errors import CelSourceError
from kwokctl.expr.cel.syntax.cel_nodes import (
    CelCall,
    CelListing,
    CelLiteral,
    CelMacro,
    CelMapping,
    CelName,
    CelNode,
    CelSelect,
    qualified,
)
from kwokctl.expr.cel.syntax.cel_tokens import WORDS, CelToken, cut, literal

_LOOPS = frozenset({"all", "exists", "exists_one", "filter", "map"})


def presence(argument: CelNode) -> CelNode:
    """Return the test whether a field is set; raise CelSourceError if it is no field."""
    if not isinstance(argument, CelSelect) or argument.is_test:
        raise CelSourceError(
            argument.at, "'has' tests whether a field is set, as in has(self.metadata)"
        )
    return CelSelect(argument.at, argument.operand, argument.field, is_test=True)


def expand(at: int, whole: CelNode, name: str, args: tuple[CelNode, ...]) -> CelNode | None:
    """Return the loop that a method expands to, None if it is an ordinary method."""
    has_condition = name == "map" and len(args) == 3
    if name not in _LOOPS or not (len(args) == 2 or has_condition):
        return None
    if not isinstance(args[0], CelName) or args[0].name == "__result__":
        raise CelSourceError(
            args[0].at, f"the first argument of '{name}' names the item, as in {name}(x, …)"
        )
    condition = args[1] if has_condition else None
    return CelMacro(at, name, whole, args[0].name, args[-1], condition)


_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "in"})
_LEVELS = (_RELATIONS, frozenset("+-"), frozenset("*/%"))
_NO_NAMES = frozenset({*WORDS, "in"})
_RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)


def parse(text: str) -> CelNode:
    """Return the tree of an expression; raise CelSourceError, with the place, if it is invalid."""
    parser = _Parser(text)
    tree = parser.expression()
    if parser.token.kind != "end":
        parser.complain()
    return tree


class _Parser:
    """Looks one token ahead."""

    def __init__(self, text: str) -> None:
        self._tokens = cut(text)
        self.token = next(self._tokens)

    def _take(self) -> CelToken:
        token = self.token
        self.token = next(self._tokens, token)
        return token

    def _is(self, *signs: str) -> bool:
        return self.token.text in signs and self.token.kind in {"sign", "word"}

    def _accept(self, sign: str) -> CelToken | None:
        return self._take() if self._is(sign) else None

    def _expect(self, sign: str) -> None:
        if self._accept(sign) is None:
            self.complain(f"'{sign}' is missing before ")

    def complain(self, what: str = "this place cannot have ") -> NoReturn:
        found = "the end" if self.token.kind == "end" else f"'{self.token.text}'"
        raise CelSourceError(self.token.at, f"{what}{found}")

    def expression(self) -> CelNode:
        condition = self._logical("||", "&&")
        mark = self._accept("?")
        if mark is None:
            return condition
        then = self._logical("||", "&&")
        self._expect(":")
        return CelCall(mark.at, "?:", (condition, then, self.expression()))

    def _logical(self, sign: str, *tighter: str) -> CelNode:
        parts: list[CelNode] = []
        at = 0
        while True:
            parts.append(self._logical(*tighter) if tighter else self._binary(0))
            mark = self._accept(sign)
            if mark is None:
                return parts[0] if len(parts) == 1 else CelCall(at, sign, tuple(parts))
            at = at or mark.at

    def _binary(self, level: int) -> CelNode:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._is(*_LEVELS[level]):
            mark = self._take()
            left = CelCall(mark.at, mark.text, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> CelNode:
        """Read a row of one operator; an even number of them does nothing."""
        first = self.token
        if not self._is("!", "-"):
            return self._member(self._primary())
        count, last = 0, first
        while self._is(first.text):
            count, last = count + 1, self._take()
        if first.text == "-" and self.token.kind in {"int", "double"}:
            operand: CelNode = literal(self._take(), "-", last.at)
            count -= 1
        else:
            operand = self._primary()
        operand = self._member(operand)
        return CelCall(first.at, f"{first.text}_", (operand,)) if count % 2 else operand

    def _member(self, operand: CelNode) -> CelNode:
        while self._is(".", "["):
            mark = self._take()
            if self._is("?"):
                raise CelSourceError(mark.at, "kwok does not support optional values")
            if mark.text == "[":
                operand = CelCall(mark.at, "[]", (operand, self.expression()))
                self._expect("]")
            else:
                operand = self._field(mark, operand)
        if self._is("{") and (name := qualified(operand)):
            raise CelSourceError(self.token.at, f"messages such as '{name}{{}}' cannot be made")
        return operand

    def _field(self, mark: CelToken, operand: CelNode) -> CelNode:
        name = self._name()
        opening = self._accept("(")
        if opening is None:
            return CelSelect(mark.at, operand, name)
        args = self._arguments()
        return expand(opening.at, operand, name, args) or CelCall(opening.at, name, args, operand)

    def _name(self) -> str:
        if self.token.kind != "word" or self.token.text in _NO_NAMES:
            self.complain()
        return self._take().text

    def _primary(self) -> CelNode:
        token = self.token
        if token.kind == "sign":
            return self._bracketed()
        if token.kind == "word" and token.text not in _NO_NAMES:
            return self._word()
        if token.kind == "word" and token.text in WORDS:
            self._take()
            return CelLiteral(token.at, *WORDS[token.text])
        if token.kind in {"word", "end"}:
            self.complain()
        return literal(self._take())

    def _word(self) -> CelNode:
        token = self._take()
        if token.text in _RESERVED:
            raise CelSourceError(token.at, f"'{token.text}' is a reserved word")
        opening = self._accept("(")
        if opening is None:
            return CelName(token.at, token.text)
        args = self._arguments()
        if token.text == "has" and len(args) == 1:
            return presence(args[0])
        return CelCall(opening.at, token.text, args)

    def _bracketed(self) -> CelNode:
        mark = self._take()
        match mark.text:
            case "(":
                inner = self.expression()
                self._expect(")")
                return inner
            case "[":
                return CelListing(mark.at, self._items())
            case "{":
                return self._mapping(mark.at)
            case "." if self.token.kind == "word" and self.token.text not in _NO_NAMES:
                return self._word()
            case "-" if self.token.kind in {"int", "double"}:
                return literal(self._take(), "-", mark.at)
            case _:
                return self._beyond(mark)

    def _beyond(self, mark: CelToken) -> NoReturn:
        self.token = mark
        self.complain()

    def _arguments(self) -> tuple[CelNode, ...]:
        args: list[CelNode] = []
        while not self._is(")") or args:
            args.append(self.expression())
            if self._accept(",") is None:
                break
        self._expect(")")
        return tuple(args)

    def _items(self) -> tuple[CelNode, ...]:
        items: list[CelNode] = []
        while not self._is("]", ","):
            items.append(self.expression())
            if self._accept(",") is None:
                break
        if not items:
            self._accept(",")
        self._expect("]")
        return tuple(items)

    def _mapping(self, at: int) -> CelNode:
        keys: list[CelNode] = []
        values: list[CelNode] = []
        while not self._is("}", ","):
            keys.append(self.expression())
            self._expect(":")
            values.append(self.expression())
            if self._accept(",") is None:
                break
        if not keys:
            self._accept(",")
        self._expect("}")
        return CelMapping(at, tuple(keys), tuple(values))
