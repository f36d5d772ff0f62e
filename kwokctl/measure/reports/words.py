"""Numbers and units as people read them."""

_STEPS = ((100.0, "{:,.0f} s", 1.0), (1.0, "{:.2f} s", 1.0), (0.0, "{:.1f} ms", 1000.0))


def seconds(value: float) -> str:
    """Write a duration in three digits or so: `12.3 ms`, `1.24 s`, `310 s`."""
    text, factor = next((text, factor) for least, text, factor in _STEPS if abs(value) >= least)
    return text.format(value * factor)


def number(value: float, unit: str = "") -> str:
    """Write a number with its unit; `12,345`, `1.5 /s`, `99.8 %`, `1.24 s`."""
    if unit == "s":
        return seconds(value)
    if unit == "B":
        return _bytes(value)
    text = f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    return f"{text} {unit}" if unit else text


def _bytes(value: float) -> str:
    """Write a number of bytes: `512 B`, `12.3 MiB`."""
    for unit in ("B", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.2f} GiB"
