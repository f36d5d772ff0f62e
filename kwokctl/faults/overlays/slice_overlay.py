"""The ResourceSlices of a node while its GPUs are at fault: taints of devices, and devices that are missing. Pure.

What faults have changed stands in an annotation of each slice, the journal, which is written together with the change. So
the next writer of the slice knows which taints are those of faults, and what the missing devices were.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

DRIVER = "gpu.nvidia.com"
"""The driver whose devices are `gpu-N`, and `gpu-N-mig-…` for the parts of a GPU."""
SLICE_JOURNAL = "kwokctl.dev/slice-faults"
"""The annotation with the journal; slices that have one are found by a label of the same name."""
MOST_TAINTS = 16
"""Taints of a device that the API server takes."""
MOST_DEVICES = 64
"""Devices of a slice that the API server takes if one of them has taints."""


class MissingDevice(msgspec.Struct, frozen=True):
    """A device that faults have taken out of a slice."""

    at: int
    """Its place among the devices of the slice."""
    device: dict[str, Json]


class SliceJournal(msgspec.Struct, frozen=True, omit_defaults=True):
    """The changes that faults have made to one slice."""

    taints: dict[str, list[DeviceTaint]] = msgspec.field(default_factory=dict)
    """The taints that they have added, by device."""
    missing: list[MissingDevice] = msgspec.field(default_factory=list)
    """In the order of their places."""


class SliceChange(msgspec.Struct, frozen=True):
    """The patch for one slice."""

    name: str
    document: dict[str, Json]
    """A JSON merge patch, which the API server refuses if the slice has changed meanwhile."""


class SliceChanges(msgspec.Struct, frozen=True):
    """The patches for the slices of a node."""

    changes: tuple[SliceChange, ...]
    problems: tuple[str, ...]
    """Taints that cannot be shown, in words for people."""
    overlaid: bool
    """Whether a slice has a journal once the patches are written."""


def concern_slices(entries: Sequence[OpenEntry]) -> bool:
    """Return whether faults show in the slices of their node."""
    return any(each.gpu is not None and (each.device_taints or _missing(each)) for each in entries)


def are_complete(slices: Sequence[ObjectInJson]) -> bool:
    """Return whether all slices of their pools are there; false without any: nodes are made before their slices."""
    wanted: dict[str, int] = {}
    for each in slices:
        pool = each["spec"]["pool"]
        wanted[pool["name"]] = max(wanted.get(pool["name"], 0), pool["resourceSliceCount"])
    return bool(slices) and len(slices) >= sum(wanted.values())


def slice_changes(slices: Sequence[ObjectInJson], entries: Sequence[OpenEntry]) -> SliceChanges:
    """Return the patches with which the slices of a node show these faults and no others; `slices` are all of the node."""
    pools: dict[str, list[ObjectInJson]] = {}
    for each in slices:
        pools.setdefault(each["spec"]["pool"]["name"], []).append(each)
    changes: list[SliceChange] = []
    problems: list[str] = []
    overlaid = False
    for pool in pools.values():
        shown = [_shown(each, entries) for each in pool]
        problems += [text for each in shown for text in each.problems]
        overlaid |= any(each.journal != _NOTHING for each in shown)
        changes += _of_pool(pool, shown)
    return SliceChanges(tuple(changes), tuple(problems), overlaid)


def slice_beneath(each: ObjectInJson) -> dict[str, Json]:
    """Return a slice as it is without faults, and without their journal."""
    meta: dict[str, Json] = {**each["metadata"]}
    spec: dict[str, Json] = {**each["spec"]}
    if devices := _beneath(each):  # a slice of counters has no such field
        spec["devices"] = devices
    for name in ("annotations", "labels"):
        if SLICE_JOURNAL in (found := meta.get(name) or {}):
            meta[name] = {key: text for key, text in found.items() if key != SLICE_JOURNAL}
    return {**each, "metadata": meta, "spec": spec}


class _Shown(msgspec.Struct, frozen=True):
    """A slice as it is to be with its faults."""

    devices: list[dict[str, Json]]
    journal: SliceJournal
    problems: tuple[str, ...]

    def differs(self, each: ObjectInJson) -> bool:
        """Return whether the slice is different now."""
        before = (each["spec"].get("devices") or [], _journal_text(each))
        return before != (self.devices, _text(self.journal))


def _of_pool(pool: Sequence[ObjectInJson], shown: Sequence[_Shown]) -> Iterator[SliceChange]:
    """Yield the changes of one pool.

    A scheduler uses a pool only while it knows as many slices of the newest generation as the pool has. So a change of one of
    several slices keeps the generation, as the publisher of slices in Kubernetes' library for drivers does: the pool is
    complete all the time. Else each slice gets a new generation, also those of a pool that was left with two.
    """
    generations = {each["spec"]["pool"]["generation"] for each in pool}
    newest, is_torn = max(generations), len(generations) > 1
    changed = [one.differs(each) for each, one in zip(pool, shown, strict=True)]
    if not any(changed) and not is_torn:
        return
    is_alone = sum(changed) == 1 and len(pool) > 1 and not is_torn
    generation = newest if is_alone else newest + 1
    for each, one, differs in zip(pool, shown, changed, strict=True):
        if differs or not is_alone:
            yield _change(each, one if differs else None, generation)


def _change(each: ObjectInJson, shown: _Shown | None, generation: int) -> SliceChange:
    """Return the change of a slice to a generation, and to what it shows if that differs."""
    meta = each["metadata"]
    metadata: dict[str, Json] = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
    spec: dict[str, Json] = {"pool": {"generation": generation}}
    if shown is not None:
        text = _text(shown.journal)
        metadata["annotations"] = {SLICE_JOURNAL: text or None}
        metadata["labels"] = {SLICE_JOURNAL: "shown" if text else None}
        if shown.devices or each["spec"].get("devices"):  # a slice of counters has no such field
            spec["devices"] = shown.devices
    return SliceChange(meta["name"], {"metadata": metadata, "spec": spec})


def _shown(each: ObjectInJson, entries: Sequence[OpenEntry]) -> _Shown:
    base = _beneath(each)
    missing = [
        MissingDevice(at, device)
        for at, device in enumerate(base)
        if any(_missing(entry) for entry in _hitting(device, entries))
    ]
    gone = {each.at for each in missing}
    left = [device for at, device in enumerate(base) if at not in gone]
    if len(left) > MOST_DEVICES and any(
        entry.device_taints for device in left for entry in _hitting(device, entries)
    ):
        problem = (
            f"ResourceSlice '{each['metadata']['name']}' has {len(left)} devices, and with taints it can have "
            f"{MOST_DEVICES}: taints of faults are left out; publish the devices in smaller slices"
        )
        return _Shown(left, SliceJournal(missing=missing), (problem,))
    problems: list[str] = []
    added: dict[str, list[DeviceTaint]] = {}
    devices = []
    for device in left:
        taints = _added(device, entries)
        room = MOST_TAINTS - len(device.get("taints") or ())
        if len(taints) > room:
            problems.append(
                f"device '{device['name']}' can have {MOST_TAINTS} taints: {len(taints) - room} of faults are left out"
            )
            taints = taints[:room]
        if taints:
            added[device["name"]] = taints
        devices.append(_tainted(device, taints, each))
    return _Shown(devices, SliceJournal(taints=added, missing=missing), tuple(problems))


def _hitting(device: Mapping[str, Json], entries: Sequence[OpenEntry]) -> Iterator[OpenEntry]:
    """Yield the faults of the GPU that a device is, or is a part of."""
    name = device["name"]
    for each in entries:
        gpu = f"gpu-{each.gpu}"
        if each.gpu is not None and (name == gpu or name.startswith(f"{gpu}-mig-")):
            yield each


def _missing(entry: OpenEntry) -> bool:
    return entry.device == "missing"


def _added(device: Mapping[str, Json], entries: Sequence[OpenEntry]) -> list[DeviceTaint]:
    """Return the taints that faults add to a device: each once, and none that it has already."""
    present = [_taint(each) for each in device.get("taints") or ()]
    found = [taint for entry in _hitting(device, entries) for taint in entry.device_taints]
    return [taint for taint in dict.fromkeys(found) if taint not in present]


def _tainted(
    device: dict[str, Json], added: Sequence[DeviceTaint], each: ObjectInJson
) -> dict[str, Json]:
    """Return a device with taints; those that it shows already keep the time at which they were added."""
    if not added:
        return device
    known = {
        _taint(taint): taint
        for one in each["spec"].get("devices") or ()
        if one["name"] == device["name"]
        for taint in one.get("taints") or ()
    }
    shown = [known.get(taint) or _as_json(taint) for taint in added]
    return {**device, "taints": [*(device.get("taints") or ()), *shown]}


def _beneath(each: ObjectInJson) -> list[dict[str, Json]]:
    """Return the devices as they are without faults."""
    journal = journal_of(each)
    devices = [
        _without(device, journal.taints.get(device["name"], ()))
        for device in each["spec"].get("devices") or ()
    ]
    known = {device["name"] for device in devices}
    for one in journal.missing:
        if one.device["name"] not in known:  # its driver may have published it again
            devices.insert(one.at, one.device)
    return devices


def _without(device: dict[str, Json], added: Sequence[DeviceTaint]) -> dict[str, Json]:
    """Return a device without the taints that faults have added."""
    if not added:
        return device
    rest = {name: value for name, value in device.items() if name != "taints"}
    left = [taint for taint in device.get("taints") or () if _taint(taint) not in added]
    return {**rest, "taints": left} if left else rest


def _taint(taint: Mapping[str, Json]) -> DeviceTaint:
    """Return a taint without its time, so that equal taints can be compared."""
    return DeviceTaint(
        key=taint["key"], value=taint.get("value") or "", effect=taint.get("effect") or "None"
    )


def _as_json(taint: DeviceTaint) -> dict[str, Json]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def journal_of(each: ObjectInJson) -> SliceJournal:
    """Return the journal of a slice; an annotation that is not one counts as none."""
    text = _journal_text(each)
    try:
        found = _decode(text) if text else _NOTHING
    except msgspec.MsgspecError:
        return _NOTHING
    return (
        found
        if all(isinstance(each.device.get("name"), str) for each in found.missing)
        else _NOTHING
    )


def _journal_text(each: ObjectInJson) -> str:
    return (each["metadata"].get("annotations") or {}).get(SLICE_JOURNAL) or ""


def _text(journal: SliceJournal) -> str:
    return "" if journal == _NOTHING else _encode(journal).decode()


_NOTHING = SliceJournal()
_decode = msgspec.json.Decoder(SliceJournal).decode
_encode = msgspec.json.Encoder(order="deterministic").encode
