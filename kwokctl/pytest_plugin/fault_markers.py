"""The faults with which a test begins, from its markers."""

from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.library.faults.fault_words import FaultWords

FAULT_MARKER = "kwok_fault"


class MarkedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault as a marker says it."""

    class_name: str
    words: "FaultWords"


def faults_of(item: pytest.Item) -> list[MarkedFault]:
    """Return the faults of a test: those of its module first, and of markers of one place the uppermost first.

    Raises UsageError, which names the test, for a marker without a class, and for a word that an injection does not have.
    """
    return [_fault(item, each) for each in reversed(list(item.iter_markers(FAULT_MARKER)))]


def _fault(item: pytest.Item, marker: pytest.Mark) -> MarkedFault:
    from kwokctl.library.faults.fault_words import demand_words  # not before a test uses it

    place = f"@pytest.mark.{FAULT_MARKER} of {item.name}"
    if len(marker.args) != 1 or not isinstance(marker.args[0], str):
        raise UsageError(
            f"{place}: it takes one class of faults, and words with names",
            hint=f'for example: @pytest.mark.{FAULT_MARKER}("xid-79", count=1)',
        )
    try:
        demand_words(marker.kwargs)
    except UsageError as e:
        raise UsageError(f"{place}: {e}", hint=e.hint) from e
    return MarkedFault(class_name=marker.args[0], words=cast("FaultWords", marker.kwargs))
