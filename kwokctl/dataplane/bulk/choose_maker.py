"""Chooses how copies are made: from the created samples, from what Stages do with them, and from what the API server accepts."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import orjson

from kwokctl.dataplane.bulk.copy_makers import (
    AllPlayed,
    AsCreated,
    CopyMaker,
    EachPlayed,
    Make,
    PlaceNeeds,
)
from kwokctl.dataplane.bulk.copy_values import CopyValues
from kwokctl.dataplane.bulk.created_samples import Sample, as_created, in_protobuf, played
from kwokctl.dataplane.bulk.locate import BulkAccess, Located
from kwokctl.dataplane.bulk.ready_nodes import is_healthy, seen_finish
from kwokctl.dataplane.copies.first_difference import difference, spelled
from kwokctl.dataplane.copies.json_stamp import Stamp, stamp_of, without_owners
from kwokctl.dataplane.copies.protobuf_stamp import protobuf_stamp
from kwokctl.dataplane.copies.symbolic_object import PlayedStatus, SymbolicObject, filled
from kwokctl.dataplane.copies.variable_fields import Copy, Path, Played, Role, ValueSource, is_time
from kwokctl.dataplane.port import FakeKubelet, NewObjects
from kwokctl.dataplane.scale_protocol import PodPlace
from kwokctl.errors import CannotStampError
from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses import check_change, takes_any_text
from kwokctl.replacing import replace

_STATUS = "status"


def soundness(resource: Resource, body: Json, stamp: Stamp) -> Callable[[Copy], bool]:
    """Return the check of the copies that a stamp makes of an object that the API server has accepted.

    Names, times and addresses are accepted with certainty, and so are values that Stages made of them.
    """
    readers = {
        slot.path: slot.source.reader()
        for slot in stamp.slots
        if slot.path[0] == _STATUS and slot.source.role is Role.SERIAL
    }
    if not readers or resource not in {NODES, PODS}:
        return lambda _: True
    texts = [readers.pop(path) for path in list(readers) if takes_any_text(resource, path[1:])]
    parts = {str(path[1]) for path in readers}

    def is_sound(copy: Copy) -> bool:
        for read in texts:
            if type(read(copy)) is not str:
                return False
        if not parts:
            return True
        values = {path: read(copy) for path, read in readers.items()}
        news = {part: filled(body[_STATUS][part], (_STATUS, part), values) for part in parts}
        after = {**body, _STATUS: {**body[_STATUS], **news}}
        return check_change(resource, body, after, parts) is None

    return is_sound


log = logging.getLogger(__name__)
_ADDRESSES = ("10.0.0.1", "fd00::1")
"""Examples of a pod's addresses, one of each family."""


class _Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that are copied, and their place in etcd."""

    new: NewObjects
    access: BulkAccess
    samples: Sequence[Sample]
    values: CopyValues
    located: Located

    def stamp(self, played: Played | None = None) -> Stamp:
        """Return the stamp that copies the samples as they are."""
        return samples_stamp(self.new, self.samples, played)


def samples_stamp(
    new: NewObjects, samples: Sequence[Sample], played: Played | None = None
) -> Stamp:
    """Return the stamp that copies two objects; CannotStampError if copies would be wrong."""
    first, second = [
        each.body if new.managed_fields else without_owners(each.body) for each in samples
    ]
    one, other = map(CopyValues.of_sample, samples)
    varying = new.varying({each.serial: each.body for each in samples})
    return stamp_of(first, second, one, other, varying, played)


async def chosen_maker(
    new: NewObjects,
    access: BulkAccess,
    samples: Sequence[Sample],
    values: CopyValues,
    located: Located,
) -> CopyMaker:
    """Return the maker of copies of objects that were just created.

    Raises CannotStampError when copies would be wrong.
    """
    setting = _Setting(new=new, access=access, samples=samples, values=values, located=located)
    stamp = setting.stamp()
    value = await as_created(access, samples[0], located)
    is_sound = soundness(new.resource, samples[0].body, stamp)
    created = AsCreated(stamp.make, _smaller(value, stamp), is_sound)
    kubelet = new.kubelet
    if kubelet is None:
        return created
    each = EachPlayed(new.resource, kubelet, created, _needs(setting, kubelet))
    try:
        return await _for_all(setting, stamp, kubelet, created, each)
    except (NotSymbolicError, CannotStampError) as e:
        log.debug("each object is played by itself: %s", e)
    await _see_finish(setting, each)
    return each


async def _see_finish(setting: _Setting, each: EachPlayed) -> None:
    """Make copies of nodes that are created Ready as the controller-manager leaves such nodes."""
    if setting.new.resource != NODES:
        return
    played = [each.played(setting.values.of_sample(sample)) for sample in setting.samples]
    if any(node is not None and is_healthy(node) for node in played):
        finish = await seen_finish(setting.new, setting.access, setting.samples)
        each.finish = finish or each.finish


async def _for_all(
    setting: _Setting, stamp: Stamp, kubelet: FakeKubelet, created: AsCreated, each: EachPlayed
) -> CopyMaker:
    """Return the maker of copies if Stages treat all copies alike, or do nothing with them at once.

    Raises NotSymbolicError or CannotStampError where that is not certain.
    """
    places = [await setting.values.place_of(sample, each.needs) for sample in setting.samples]
    symbolic = _symbolic(setting, stamp, places[0])
    body = kubelet.pattern(symbolic.body, symbolic.own)
    texts = symbolic.assumes()
    is_played = body is not symbolic.body
    if not is_played and not texts:
        return created
    made = created
    if is_played:
        made = await _all_played(setting, symbolic.played(body), places)
    return AllPlayed(kubelet, made, each, is_alike=_alike(texts, places[0]))


def _smaller(value: bytes, stamp: Stamp) -> Make:
    """Return a maker that writes protocol buffers if possible, else the one that writes JSON.

    Such objects are smaller, and the API server reads them faster.
    """
    smaller = protobuf_stamp(value, stamp)
    return stamp.make if smaller is None else smaller.make


def _needs(setting: _Setting, kubelet: FakeKubelet) -> PlaceNeeds:
    if setting.new.node_of is None:
        return PlaceNeeds.NOTHING
    is_on_host = setting.samples[0].body.get("spec", {}).get("hostNetwork")
    asks = kubelet.needs_addresses and not is_on_host
    return PlaceNeeds.ADDRESSES if asks else PlaceNeeds.NODES


def _symbolic(setting: _Setting, stamp: Stamp, place: PodPlace) -> SymbolicObject:
    copy = setting.values.of_sample(setting.samples[0])
    body = orjson.loads(stamp.make(copy))
    return SymbolicObject(stamp, body, pod_ips=len(place.pod_ips), host_ips=len(place.host_ips))


def _alike(texts: Sequence[ValueSource], place: PodPlace) -> Callable[[Copy], bool]:
    """Return a check that a copy has what was assumed: texts here, and the same number of addresses."""
    readers = [source.reader() for source in texts]
    numbers = len(place.pod_ips), len(place.host_ips)

    def is_alike(copy: Copy) -> bool:
        if (len(copy.pod_ips), len(copy.host_ips)) != numbers:
            return False
        for read in readers:
            value = read(copy)
            if type(value) is not str or not value:
                return False
        return True

    return is_alike


async def _all_played(
    setting: _Setting, status: PlayedStatus, places: Sequence[PodPlace]
) -> AsCreated:
    """Return the maker of copies if the cluster's kubelets have left both samples alike."""
    new, access, values = setting.new, setting.access, setting.values

    def lacks(place: PodPlace, sample: Sample) -> str | None:
        wanted = status.of(values.of_sample(sample, place))
        path = _difference(wanted, sample.body.get("status", {}))
        return (
            None
            if path is None
            else f"does not have the 'status.{spelled(path)}' that its Stages set"
        )

    _demand_taken(setting, status, places[0])
    samples = [
        await played(new, access, sample, partial(lacks, place))
        for sample, place in zip(setting.samples, places, strict=True)
    ]
    stored = await access.store.get(setting.located.stored.key)
    if stored is None:
        raise CannotStampError(f"'{samples[0].name}' is gone")
    located = replace(setting.located, stored=stored)
    stamp = replace(setting, samples=samples).stamp(status.sources)
    smaller = _smaller(await in_protobuf(new, access, samples[0], located), stamp)
    return AsCreated(stamp.make, smaller, soundness(new.resource, samples[0].body, stamp))


def _demand_taken(setting: _Setting, status: PlayedStatus, place: PodPlace) -> None:
    """Raise CannotStampError unless the API server accepts the status that Stages give all copies."""
    sample = setting.samples[0]
    place = place._replace(pod_ips=_ADDRESSES[: len(place.pod_ips)])
    anything = status.anything(setting.values.of_sample(sample, place))
    created = sample.body
    problem = check_change(setting.new.resource, created, {**created, "status": anything})
    if problem is not None:
        raise CannotStampError(problem)


def _difference(wanted: Json, shown: Json) -> Path | None:
    """Return the first path where the API server's status differs from the expected one.

    It writes times in whole seconds, leaves out most of what is empty, and writes some of what is missing.
    """

    def same(_path: Path, one: Json, other: Json) -> bool:
        return all(isinstance(each, str) and is_time(each) for each in (one, other))

    return difference(_without_empty(wanted), _without_empty(shown), same)


def _without_empty(value: Json) -> Json:
    if isinstance(value, dict):
        fields = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in fields.items() if item}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value
