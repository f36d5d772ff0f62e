"""Writes copies of objects one at a time, each when it is due, for as long as that takes."""

from collections.abc import Mapping
from functools import partial

import orjson

from kwokctl.dataplane.bulk.choose_maker import samples_stamp
from kwokctl.dataplane.bulk.copy_writer import writer_of
from kwokctl.dataplane.bulk.created_samples import SAMPLES, Sample, admitted
from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import NewObjects, WriteCopy


class CopySession:
    """Writes copies of one kind and namespace, no faster than watches follow."""

    def __init__(self, access: BulkAccess, window: Window) -> None:
        self._access = access
        self._window = window

    async def check(self, new: NewObjects) -> None:
        """Let the API server admit the first two objects and the last in a dry run, and try to copy the first.

        Raises CannotStampError when copies would be wrong, and ApiError for an object that is refused.
        """
        await admitted(new, self._access, new.serials[-1])
        tried = [await admitted(new, self._access, each) for each in new.serials[:SAMPLES]]
        samples = [each for each in tried if each is not None]
        if len(samples) == SAMPLES:
            samples_stamp(new, samples)

    async def copies_of(self, new: NewObjects, samples: Mapping[int, bytes]) -> WriteCopy:
        """Return what writes copies of two objects, which the API server has just answered with.

        Raises CannotStampError when copies would be wrong.
        """
        found = [Sample(serial, orjson.loads(body)) for serial, body in samples.items()]
        writer = await writer_of(new, self._access, found)
        return partial(writer.alone, window=self._window)
