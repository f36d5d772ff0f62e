"""The language CEL, as kwok uses it, compiled to Python."""

from kwokctl.expr.cel.program import CelEnvironment, CelProgram
from kwokctl.expr.cel.stages import StructKind, compile_cel
from kwokctl.expr.cel.usage import MeasuredObject, usage_environment

__all__ = [
    "CelEnvironment",
    "CelProgram",
    "MeasuredObject",
    "StructKind",
    "compile_cel",
    "usage_environment",
]
