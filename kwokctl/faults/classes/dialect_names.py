"""The names of the dialects that come with kwokctl, checked where a user gives some."""

from kwokctl.config.checks import InvalidText
from kwokctl.config.nearest import did_you_mean
from kwokctl.faults.classes.catalogue import FaultCatalogue


def check_dialect(word: str) -> InvalidText | None:
    """Accept the name of a dialect that comes with kwokctl."""
    names = [each.name for each in FaultCatalogue().dialects()]
    if word in names:
        return None
    hint = did_you_mean(word, names) or f"dialects are: {', '.join(names)}"
    return InvalidText("no dialect of faults", hint)
