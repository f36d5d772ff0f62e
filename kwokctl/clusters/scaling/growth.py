"""Makes what is missing of a set: as copies in etcd where that is right, else through the API."""

from collections.abc import Callable, Sequence

from kwokctl.clusters.scaling.changes import Names
from kwokctl.clusters.scaling.creation import Creation
from kwokctl.clusters.scaling.mould import Mould
from kwokctl.clusters.scaling.obstacles import Way
from kwokctl.clusters.scaling.pace import Pace
from kwokctl.clusters.scaling.pacing import SILENT, UNPLACED, paced
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.placing import Placing
from kwokctl.clusters.scaling.positions import NAME
from kwokctl.clusters.scaling.serials import Serials
from kwokctl.clusters.scaling.stamping import WORTH, Stamping
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.copies.json_stamp import CannotStampError
from kwokctl.errors import ApiError
from kwokctl.kube.resource import NODES, PODS
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
        await self._settle_positions(serials[-1] + 1)
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

    async def give_back(self, kept: Sequence[str]) -> None:
        """Let other sets have the networks and addresses of nodes that exist no longer."""
        book = self._place.book
        if book is None or self._creation.resource != NODES:
            return
        serials = map(self._creation.request.serial_of, kept)
        used = max((serial for serial in serials if serial is not None), default=-1) + 1
        try:
            await self._mould.positions.give_back(used, book)
        except ApiError as e:
            if e.reason != "Forbidden":
                raise

    async def _settle_positions(self, number: int) -> None:
        """Share out networks and addresses, if that is for nodes."""
        place = self._place
        if place.book is None or self._creation.resource != NODES:
            return
        starts = self._mould.starts()
        if not starts:
            return
        try:
            await self._mould.positions.settle(number, starts, place.book, place.reader)
        except ApiError as e:
            if e.reason != "Forbidden":
                raise
            place.progress.warn(
                f"networks and addresses of other sets may be repeated: '{NAME}' cannot be written"
            )

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
            silence = UNPLACED if resource == PODS and node_of is None else SILENT
            async with paced(way.direct, resource, namespace, step, silence=silence) as window:
                await stamping.write(window, tell)
        except CannotStampError as e:
            if self._place.insists:
                raise
            self._place.progress.note(str(Choice(path="api", why=str(e))))
