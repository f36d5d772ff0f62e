"""Go's `printf`, with its verbs and flags: https://pkg.go.dev/fmt."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from kwokctl.expr.gotemplate.go import plain_layouts
from kwokctl.expr.gotemplate.go.formatting import escaped, plain, quoted
from kwokctl.expr.gotemplate.go.go_times import STRINGERS, Moment
from kwokctl.expr.gotemplate.go.go_types import Number, type_name
from kwokctl.expr.gotemplate.go.go_values import is_list
from kwokctl.expr.gotemplate.go.numerals import shortest
from kwokctl.expr.gotemplate.go.semantic_version import SemanticVersion
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.replacing import replace

_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<first>\[[0-9]+\](?=\*))?(?P<width>\*|[0-9]+)?"
    r"(?P<second>\[[0-9]+\](?=\.\*))?(?P<precision>\.(?:\*|[0-9]*))?"
    r"(?P<at>\[[0-9]+\])?(?P<verb>.)?",
    re.DOTALL,
)
_WIDEST = 1_000_000


class Form(msgspec.Struct, frozen=True):
    """The format of a value."""

    verb: str
    flags: frozenset[str] = frozenset()
    width: int = 0
    precision: int | None = None

    def pad(self, written: str, *, zeros: bool = False) -> str:
        """Fill up to the width."""
        missing = self.width - len(written)
        if missing <= 0:
            return written
        if "-" in self.flags:
            return written + " " * missing
        if zeros and "0" in self.flags:
            sign = written[:1] if written[:1] in {"+", "-", " "} else ""
            return sign + "0" * missing + written[len(sign) :]
        return " " * missing + written


def sprintf(layout: object, *arguments: object) -> str:
    """Return the layout with its verbs filled in; wrong arguments are errors in the text."""
    if not isinstance(layout, str) or isinstance(layout, Number):
        raise TemplateError("the layout of 'printf' must be a string")
    written = plain_layouts.filled(layout, arguments)
    return _Printer(arguments).fill(layout) if written is None else written


def sprint(*arguments: object) -> str:
    """Return the values in a row, with a space between any two that are no texts: `print`."""
    written: list[str] = []
    before: object = ""
    for argument in arguments:
        if written and not isinstance(argument, str) and not isinstance(before, str):
            written.append(" ")
        written.append(plain(argument))
        before = argument
    return "".join(written)


def sprintln(*arguments: object) -> str:
    """Return the values with spaces between, and a newline: `println`."""
    return " ".join(map(plain, arguments)) + "\n"


class _Printer:
    """Hands out the arguments of one `printf`."""

    def __init__(self, arguments: tuple[object, ...]) -> None:
        self._arguments = arguments
        self._next = 0
        self._reordered = False

    def fill(self, layout: str) -> str:
        filled = _VERB.sub(self._verb, layout)
        rest = self._arguments[self._next :]
        if not rest or self._reordered:
            return filled
        extra = (f"{type_name(a)}={plain(a)}" if a is not None else "<nil>" for a in rest)
        return f"{filled}%!(EXTRA {', '.join(extra)})"

    def _verb(self, match: re.Match[str]) -> str:
        verb = match["verb"]
        is_good = True
        for at in (match["first"], match["second"], match["at"]):
            is_good = self._go_to(at) and is_good
        width, wrong_width = self._number(match["width"], "WIDTH")
        given = match["precision"]
        precision, wrong_precision = self._number(given and given[1:], "PREC")
        flags = frozenset(match["flags"])
        if width is not None and width < 0:
            flags = flags - {"0"} | {"-"}
        if given is not None and given != ".*" and precision is None:
            precision = 0
        form = Form(
            verb or "",
            flags,
            abs(width or 0),
            None if precision is None or precision < 0 else precision,
        )
        return wrong_width + wrong_precision + self._written(form, is_good=is_good)

    def _written(self, form: Form, *, is_good: bool) -> str:
        if not form.verb:
            return "%!(NOVERB)"
        if form.verb == "%":
            return "%"
        if not is_good:
            return f"%!{form.verb}(BADINDEX)"
        if self._next >= len(self._arguments):
            return f"%!{form.verb}(MISSING)"
        if form.verb == "v":
            form = replace(form, flags=form.flags - {"+"})
        self._next += 1
        return write(form, self._arguments[self._next - 1])

    def _go_to(self, at: str | None) -> bool:
        """Go to the argument with a number, `[1]`; return whether there is one."""
        if not at:
            return True
        self._reordered = True
        number = int(at[1:-1])
        if not 1 <= number <= len(self._arguments):
            return False
        self._next = number - 1
        return True

    def _number(self, text: str | None, what: str) -> tuple[int | None, str]:
        """Return a width or precision, and what is written if an argument cannot be one."""
        if text != "*":
            if text and int(text) > _WIDEST:
                raise TemplateError(f"'printf' cannot write {text} characters for a value")
            return (int(text) if text else None), ""
        value = self._arguments[self._next] if self._next < len(self._arguments) else None
        self._next += self._next < len(self._arguments)
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _WIDEST:
            return None, f"%!(BAD{what})"
        return int(value), ""


def write(form: Form, value: object) -> str:
    """Return a value as the form has it."""
    if form.verb == "T":
        return form.pad(type_name(value))
    if form.verb == "v" and "#" in form.flags:
        return form.pad(_source(value))
    if value is None:
        return form.pad("<nil>") if form.verb == "v" else f"%!{form.verb}(<nil>)"
    if form.verb in _TEXTUAL and isinstance(value, (*STRINGERS, SemanticVersion)):
        value = str(value)
    if isinstance(value, Moment):
        raise TemplateError(f"'%{form.verb}' cannot write a time: use its method 'Format'")
    if form.verb == "p" and not isinstance(value, str | int | float):
        raise TemplateError("'%p' writes the address of a value in memory")
    for python, writer in _WRITERS:
        if isinstance(value, python):
            written = writer(form, value)
            return written if written is not None else _wrong(form, value)
    return form.pad(str(value))


_TEXTUAL = frozenset("vsqxX")


def _map(form: Form, value: Mapping[str, object]) -> str:
    parts = (f"{write(form, key)}:{write(form, value[key])}" for key in sorted(value))
    return f"map[{' '.join(parts)}]"


def _list(form: Form, value: Sequence[object]) -> str:
    return f"[{' '.join(write(form, item) for item in value)}]"


def _wrong(form: Form, value: object) -> str:
    return f"%!{form.verb}({type_name(value)}={write(replace(form, verb='v'), value)})"


def _boolean(form: Form, value: object) -> str | None:
    return form.pad(plain(value), zeros=True) if form.verb in {"t", "v"} else None


def _text(form: Form, value: str) -> str | None:
    part = value if form.precision is None else value[: form.precision]
    match form.verb:
        case "s" | "v":
            return form.pad(part, zeros=True)
        case "q":
            if "#" in form.flags and "`" not in part and part.isprintable():
                return form.pad(f"`{part}`")
            return form.pad(quoted(part, ascii_only="+" in form.flags))
        case "x" | "X":
            data = value.encode()[: form.precision]
            lead = f"0{form.verb}" if "#" in form.flags and data else ""
            written = data.hex(" ") if " " in form.flags else data.hex()
            return form.pad(lead + (written.upper() if form.verb == "X" else written))
        case _:
            return None


_INTEGER = {"d": "d", "v": "d", "x": "x", "X": "X", "o": "o", "O": "o", "b": "b"}
_LEADS = {"x": "0x", "X": "0X", "o": "0", "b": "0b"}


def _integer(form: Form, value: int) -> str | None:
    if form.verb in _INTEGER:
        digits = format(abs(value), _INTEGER[form.verb]).rjust(form.precision or 0, "0")
        lead = _LEADS.get(form.verb, "") if "#" in form.flags else ""
        lead = "0o" if form.verb == "O" else lead
        zeros = "0" in form.flags and form.precision is None and "-" not in form.flags
        sign = _sign(form, is_negative=value < 0)
        if zeros:
            digits = digits.rjust(form.width - len(sign), "0")
        return form.pad(sign + lead + digits)
    character = chr(value) if 0 <= value <= 0x10FFFF else "\ufffd"
    match form.verb:
        case "c":
            return form.pad(character)
        case "q":
            inner = "\\'" if character == "'" else escaped(character).replace('\\"', '"')
            return form.pad(f"'{inner}'")
        case "U":
            shown = f" '{character}'" if "#" in form.flags and character.isprintable() else ""
            return form.pad(f"U+{value % 2**64:04X}{shown}")
        case _:
            return None


def _float(form: Form, value: float) -> str | None:
    precision = form.precision
    if form.verb in {"b", "x", "X"}:
        raise TemplateError(f"'%{form.verb}' of a float is not supported")
    match form.verb:
        case "v" | "g" | "G" if precision is None:
            written = shortest(abs(value))
        case "v" | "g" | "G":
            written = _general(abs(value), precision or 1)
        case "f" | "F" | "e" | "E":
            written = format(abs(value), f".{6 if precision is None else precision}{form.verb}")
        case _:
            return None
    written = written.upper() if form.verb == "G" else written
    sign = _sign(form, is_negative=str(value).startswith("-"))
    return form.pad(sign + written.lstrip("+"), zeros=True)


def _general(value: float, precision: int) -> str:
    """Return `%.3g`: as in C, there are no zeros at the end."""
    number = Decimal(f"{value:.{precision - 1}e}").normalize()
    exponent = number.adjusted()
    if not number or -5 < exponent < precision:
        return f"{number:f}"
    return f"{number.scaleb(-exponent):f}e{exponent:+03d}"


def _sign(form: Form, *, is_negative: bool) -> str:
    if is_negative:
        return "-"
    if "+" in form.flags:
        return "+"
    return " " if " " in form.flags else ""


_WRITERS: tuple[tuple[type, Callable[[Form, Any], str | None]], ...] = (
    (bool, _boolean),
    (int, _integer),
    (float, _float),
    (str, _text),
    (Mapping, _map),
    (Sequence, _list),
)


def _source(value: object) -> str:
    """Return a value as `%#v` writes it, in Go's own language."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{quoted(str(key))}:{_source(value[key])}" for key in sorted(value))
        return f"{type_name(value)}{{{inner}}}"
    if is_list(value):
        return f"{type_name(value)}{{{', '.join(map(_source, value))}}}"
    return "interface {}(nil)" if value is None else plain(value)
