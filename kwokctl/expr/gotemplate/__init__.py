"""Go's templates, compiled to Python, with the functions of Sprig and of kwok."""

from kwokctl.expr.gotemplate.template import Template, compile

__all__ = ["Template", "compile", "functions", "go", "symbol_calls", "symbols", "template"]
