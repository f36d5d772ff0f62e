"""Reads the text between the braces of a template."""

from kwokctl.expr.gotemplate.syntax import literals
from kwokctl.expr.gotemplate.syntax.lexer import Cursor, TemplateSource, Token
from kwokctl.expr.gotemplate.syntax.nodes import (
    Dot,
    Fields,
    Function,
    Literal,
    Operand,
    Pipeline,
    PipelineCommand,
    Variable,
)

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
    "string": literals.unquote,
    "raw": literals.unquote,
    "number": literals.number,
    "character": literals.character,
}
