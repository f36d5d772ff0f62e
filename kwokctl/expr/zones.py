"""Time zones by their names."""

from datetime import UTC, tzinfo


def named_zone(name: str) -> tzinfo | None:
    """Return a time zone such as `Europe/Berlin`; None if the name is unknown."""
    if name in {"", "UTC"}:
        return UTC
    from zoneinfo import ZoneInfo  # hardly any expression names a time zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
