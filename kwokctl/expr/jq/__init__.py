"""The jq language: what Stages use is compiled to Python, the rest is interpreted."""

from kwokctl.expr.jq.query import Query, compile  # noqa: A004 - as `re.compile`

__all__ = ["Query", "compile"]
