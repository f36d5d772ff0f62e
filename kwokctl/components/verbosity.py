"""Writes the level of the log as each program wants it; without one, programs have their own."""

from kwokctl.components.command_line import Value
from kwokctl.config import flag_words
from kwokctl.config.options import ClusterOptions

_WORDS = ((8, "error"), (4, "warn"), (0, "info"))


def of_kubernetes(options: ClusterOptions) -> Value:
    """Return a number from 0 on, the more the higher: DEBUG is 4."""
    found = _number(options)
    return None if found is None else max(0, -found)


def of_embedded(options: ClusterOptions, *, is_ours: bool = True) -> Value:
    """Return the number that kwokctl's own processes want; another controller reads the word itself."""
    found = _number(options)
    if found is None or not is_ours:
        return options.verbosity or None
    return -(found // 4) if found > 0 else -found


def in_a_word(options: ClusterOptions) -> Value:
    """Return the word that etcd wants."""
    found = _number(options)
    if found is None:
        return None
    return next((word for least, word in _WORDS if found >= least), "debug")


def _number(options: ClusterOptions) -> int | None:
    found = flag_words.read_level(options.verbosity) if options.verbosity else 0
    return found or None
