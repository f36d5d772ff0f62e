"""The signs in front of steps, and what stands for them where the terminal cannot show them."""

from collections.abc import Mapping

BEGUN, GOING, DONE, FAILED = "·", "…", "✓", "✗"

_FRAMES = dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True))
_PLAIN: Mapping[str, str] = {
    BEGUN: "..",
    GOING: "...",
    DONE: "ok",
    FAILED: "FAILED",
    "━": "=",
    "─": "-",
    "–": "-",  # noqa: RUF001 - a dash, as sentences have it
    "µ": "u",
    **_FRAMES,
}
"""ASCII for every character beyond it that kwokctl itself writes."""


def shown(text: str, encoding: str | None) -> str:
    """Return a text in characters that an encoding has; what is unknown becomes a question mark."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = "".join(_PLAIN.get(character, character) for character in text)
        return text.encode(encoding, "replace").decode(encoding)
    return text
