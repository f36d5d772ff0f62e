"""What another controller does not know of a pod: each case is played with the memory lost at every look.

What differs then from the same case with its memory is all that the guide may name as lost.
"""

from collections import Counter

import pytest

from kwokctl.controller.lifecycle.outcome import PodOutcome
from tests.support.kubelet_recordings.cases import Case, cases
from tests.support.kubelet_recordings.playing import PlayedCase

_SHOWS_ANOTHER_BACK_OFF = {"liveness-fails", "startup-fails"}
"""A container that was killed for a probe has a back-off that its restart count does not say."""
_LOST = {"BackOff", "Unhealthy", "Killing", "Evicted"}
"""Events whose time was between two looks: nothing says whether they have been written."""
_OF_A_START = {"Pulled", "Created", "Started"}


class Forgetful(PlayedCase):
    """A pod that another controller takes over before each look."""

    def _sync(self) -> PodOutcome:
        self.memory = None
        return super()._sync()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_another_controller_makes_the_same_of_a_pod_but_for_what_is_named(case: Case) -> None:
    known, forgotten = PlayedCase(case), Forgetful(case)
    is_other = case.name in _SHOWS_ANOTHER_BACK_OFF
    lost = _events(known) - _events(forgotten)
    permitted = _LOST | _OF_A_START if is_other else _LOST

    assert (forgotten.views != known.views) == is_other
    assert set(lost) <= permitted
    assert not _events(forgotten) - _events(known)


def _events(played: PlayedCase) -> Counter[str]:
    return Counter(each.reason for each in played.events)
