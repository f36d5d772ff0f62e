"""Regular expressions as Go has them: https://pkg.go.dev/regexp/syntax, translated to Python's."""

from kwokctl.expr.regexp.compiling import compile_regexp
from kwokctl.expr.regexp.fault import RegexpError

__all__ = ["RegexpError", "compile_regexp"]
