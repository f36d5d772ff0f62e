"""Renders flags and their values as command-line arguments."""

from collections.abc import Mapping

Value = str | int | bool | None


def flags(values: Mapping[str, Value], extra: Mapping[str, str | None]) -> tuple[str, ...]:
    """Render `--key=value` words; a value of None drops the flag.

    `extra` is the user's: it overrides kwokctl's, and there a value of None means a bare `--key`.
    """
    ours = {key: value for key, value in values.items() if value is not None and key not in extra}
    return (
        *(f"--{key}={_text(value)}" for key, value in ours.items()),
        *(f"--{key}" if value is None else f"--{key}={value}" for key, value in extra.items()),
    )


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
