"""Makes what is missing of a set: as copies in etcd where that is right, else through the API."""

from collections.abc import Sequence

from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.pacing import paced
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.placing import Placing
from kwokctl.clusters.scaling.samples import SAMPLES
from kwokctl.clusters.scaling.stamping import WORTH, Stamping
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.stamp import CannotStampError
from kwokctl.progress import Step


class Growth:
    """The objects of a set that are yet to be made."""

    def __init__(self, creation: Creation, place: Place, mould: Mould, placing: Placing) -> None:
        """Make what `creation` makes, in `place`."""
        self._creation = creation
        self._place = place
        self._mould = mould
        self._placing = placing

    async def make(
        self, serials: Sequence[int], members: int, pace: Pace | None, direct: Direct | None
    ) -> None:
        """Make the objects with these serials; the set has `members` already."""
        before = members + await self._creation.others(serials)
        resource = self._creation.resource
        title = f"Creating {amount(len(serials), resource)}"
        with self._place.progress.step(title, total=len(serials), unit=resource.plural) as step:
            if direct is not None and len(serials) >= WORTH:
                if await self._stamp(serials, before, direct, step):
                    return
                serials, before = serials[SAMPLES:], before + SAMPLES
            else:
                await self._creation.first(serials[0], before=before)
                step.advance()
                serials, before = serials[1:], before + 1
            await self._creation.rest(serials, before=before, pace=pace, tell=step.advance)

    async def _stamp(self, serials: Sequence[int], before: int, direct: Direct, step: Step) -> bool:
        """Write copies to etcd; False, after the first two objects, if they would not be right."""
        pattern = self._mould.pattern()
        varying = {} if pattern is None else pattern.varying
        stamping = Stamping(self._creation, direct, varying, self._placing.node_of)
        try:
            await stamping.prepare(serials, before=before)
            step.advance(SAMPLES)
            resource, namespace = self._creation.resource, self._creation.namespace
            async with paced(direct, resource, namespace, step) as window:
                await stamping.write(serials[SAMPLES:], window, step.advance)
        except CannotStampError as e:
            if self._place.insists:
                raise
            self._place.progress.note(str(Choice(path="api", why=str(e))))
            return False
        return True
