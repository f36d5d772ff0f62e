"""Replaces characters that an output does not have by ASCII that says the same."""

import codecs
import io
import sys
from collections.abc import Mapping

_FRAMES = dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True))
_PLAIN: Mapping[str, str] = {
    "·": "..",
    "…": "...",
    "✓": "ok",
    "✗": "FAILED",
    "→": "->",
    "━": "=",
    "─": "-",
    "\N{EN DASH}": "-",
    "µ": "u",
    **_FRAMES,
}
"""ASCII for every character beyond it that kwokctl itself writes."""
_ASCII_LOCALES = ("C", "POSIX")
_HANDLER = "kwokctl-plain"


def encodable(text: str, encoding: str | None) -> str:
    """Return a text in characters that an encoding has; what is unknown becomes a question mark."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return _plain(text).encode(encoding, "replace").decode(encoding)
    return text


def follow_locale(environ: Mapping[str, str]) -> None:
    """Write ASCII where the user has chosen a locale without more, as with `LANG=C`.

    Python takes such a locale for UTF-8, and says so by its mode. Where no locale is chosen at all, as
    in many containers, that is the better guess.
    """
    chosen = environ.get("LC_ALL") or environ.get("LANG")
    if sys.flags.utf8_mode and chosen in _ASCII_LOCALES and "PYTHONUTF8" not in environ:
        codecs.register_error(_HANDLER, _replaced)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="ascii", errors=_HANDLER)


def _plain(text: str) -> str:
    return "".join(_PLAIN.get(character, character) for character in text)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Return what takes the place of characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = _plain(error.object[error.start : error.end])
    return text.encode("ascii", "replace").decode("ascii"), error.end
