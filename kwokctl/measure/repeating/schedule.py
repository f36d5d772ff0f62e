"""The order of repeated runs, and what differs between them. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.measure.record.record_file import check_new
from kwokctl.measure.record.record_names import (
    profiles_path,
    record_of_run,
    record_of_warm_up,
    whole_objects_path,
)
from kwokctl.measure.running.request import MeasureRequest
from kwokctl.replacing import replace


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of each request."""

    runs: int
    warm_ups: int = 0
    """Runs before those, which do not count."""
    varies_seed: bool = False
    """Whether each run has a seed of its own, which the run of that number of another request has, too."""


def scheduled(requests: Sequence[MeasureRequest], wanted: Repetition) -> list[MeasureRequest]:
    """Return the request of each run; the runs of several requests alternate.

    So what changes on the machine meanwhile, such as its temperature, changes for all of them. Raises ConflictError if
    one of the records exists.
    """
    warm_ups = [
        replace(each, is_warm_up=True, record=record_of_warm_up(each.record, number))
        for number in range(1, wanted.warm_ups + 1)
        for each in requests
    ]
    counted = [
        replace(
            each,
            record=record_of_run(each.record, number),
            seed=each.seed + (number - 1 if wanted.varies_seed else 0),
        )
        for number in range(1, wanted.runs + 1)
        for each in requests
    ]
    runs = [_with_files_beside(each) for each in (*warm_ups, *counted)]
    for each in runs:
        check_new(each.record)
    return runs


def _with_files_beside(request: MeasureRequest) -> MeasureRequest:
    """Put whole objects and profiles, if they are wanted, beside the record of this run."""
    record = request.record
    return replace(
        request,
        full=whole_objects_path(record) if request.full else None,
        profiles=profiles_path(record) if request.profiles else None,
    )
