"""The language CEL, as kwok uses it, compiled to Python."""

from kwokctl.expr.cel.cel_program import CelEnvironment, CelProgram
from kwokctl.expr.cel.environments import MeasuredObject, StructKind, compile_cel, usage_environment

__all__ = [
    "CelEnvironment",
    "CelProgram",
    "MeasuredObject",
    "StructKind",
    "analysis",
    "cel_errors",
    "cel_types",
    "compile_cel",
    "environments",
    "functions",
    "loops",
    "syntax",
    "usage_environment",
    "values",
]
