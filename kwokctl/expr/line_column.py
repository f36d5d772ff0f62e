"""Places in a text, as people count them."""


def line_and_column(text: str, at: int) -> str:
    """Return the line and the column of an offset, both from 1."""
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - text.rfind(chr(10), 0, at)}"
