"""Makes what is missing of a set: as copies in etcd where that is right, else through the API."""

from collections.abc import Callable

from kwokctl.clusters.scaling.changes import Names
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import Way
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.pacing import paced
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.placing import Placing
from kwokctl.clusters.scaling.serials import Serials
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
        self.made = 0
        """How many have been made so far."""

    async def make(
        self, serials: Serials, members: int, pace: Pace | None, way: Way | None
    ) -> None:
        """Make the objects with these serials; the set has `members` already."""
        creation = self._creation
        before = members + await creation.others(Names(creation.request, serials))
        resource = creation.resource
        with self._place.progress.step(
            self._title(len(serials), members), total=len(serials), unit=resource.plural
        ) as step:

            def tell() -> None:
                self.made += 1
                step.advance()

            if way is not None and len(serials) >= WORTH:
                await self._stamp(serials, before, way, step, tell)
            else:
                await creation.first(serials[0], before=before)
                tell()
            rest, before = serials[self.made :], before + self.made
            await creation.rest(rest, before=before, pace=pace, tell=tell)

    def _title(self, number: int, members: int) -> str:
        resource = self._creation.resource
        if not members:
            return f"Creating {amount(number, resource)}"
        return f"Creating {amount(number, resource, more=True)}, to {members + number:,}"

    async def _stamp(
        self, serials: Serials, before: int, way: Way, step: Step, tell: Callable[[], None]
    ) -> None:
        """Write copies to etcd; return early, with whole objects made, if they would not be right."""
        pattern = self._mould.pattern()
        varying = {} if pattern is None else pattern.varying
        node_of = self._placing.node_of
        stamping = Stamping(self._creation, way.direct, way.obstacles, varying, node_of)
        try:
            await stamping.prepare(serials, before=before, tell=tell)
            resource, namespace = self._creation.resource, self._creation.namespace
            async with paced(way.direct, resource, namespace, step) as window:
                await stamping.write(window, tell)
        except CannotStampError as e:
            if self._place.insists:
                raise
            self._place.progress.note(str(Choice(path="api", why=str(e))))
