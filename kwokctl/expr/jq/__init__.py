"""The jq language: what Stages use is compiled to Python, the rest is interpreted."""

from kwokctl.expr.jq.query import JqQuery, compile

__all__ = ["JqQuery", "compile", "dependence", "jq_parser"]
