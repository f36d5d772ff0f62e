"""The language CEL, as kwok uses it, compiled to Python."""

from kwokctl.expr.cel.program import CelEnvironment, CelProgram
from kwokctl.expr.cel.stages import StructKind, compile_cel

__all__ = ["CelEnvironment", "CelProgram", "StructKind", "compile_cel"]
