"""The form that all lines of a record but the first have."""

import msgspec


class Line(msgspec.Struct, array_like=True, gc=False):
    """Any line but the first."""
