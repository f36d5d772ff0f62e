"""The pages of all nodes with GPUs: at which paths they are, who finds them, and what the summary says of GPUs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import NodeView
from kwokctl.kubelet.telemetry.dcgm_page import DcgmPage
from kwokctl.kubelet.telemetry.dcgm_series import BY_NAME, DEFAULT, OPTIONAL
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.kubelet.telemetry.gpu_state import GpuStates, NodeGpus
from kwokctl.kubelet.telemetry.place_labels import place_labels
from kwokctl.kubelet.telemetry.shown_values import is_silenced, shown
from kwokctl.kubelet.usage.node_pages import NodePages, ScrapeTarget

_NAME = "dcgm"
_JOB = "nvidia-dcgm-exporter"
"""The job of an exporter that NVIDIA's operator has installed."""
_VENDOR = "nvidia.com/"
_MEBI = 1024 * 1024
_SERIES = {"": DEFAULT, "default": DEFAULT, "all": (*DEFAULT, *OPTIONAL)}
_NAMES = {"": False, "old": False, "new": True}


class _Kept(msgspec.Struct):
    """A page, and what it was made for."""

    gpus: NodeGpus
    version: int
    page: DcgmPage


class GpuPages(NodePages):
    """The pages that an exporter of DCGM serves on each node with GPUs."""

    def __init__(self, states: GpuStates) -> None:
        """Show these states."""
        self._states = states
        self._pages: dict[str, dict[tuple[str, str], _Kept]] = {}

    def at(self, request: Request) -> bytes | None:
        """Return the page for a path, None if it is of no node with GPUs."""
        match request.segments:
            case ("metrics", "nodes", node, last) if last == _NAME:
                return self._page(node, _wanted(request))
            case _:
                return None

    def targets(self, nodes: Iterable[NodeView]) -> Iterator[ScrapeTarget]:
        """Yield a target for each node that has GPUs."""
        for view in nodes:
            if any(name.startswith(_VENDOR) for name in view.capacity):
                yield ScrapeTarget(
                    name=_NAME, path=f"/metrics/nodes/{view.name}/{_NAME}",
                    labels={"node": view.name, "job": _JOB, **place_labels(view)},
                )  # fmt: skip

    def accelerators(self, node: str) -> Mapping[tuple[str, str], Sequence[Json]]:
        """Return what the summary says of the GPUs of containers, by the uid of the pod and by name."""
        found: dict[tuple[str, str], list[Json]] = {}
        for reading in self._states.readings(node):
            for user in reading.users:
                if (stats := _accelerator(reading, user)) is not None:
                    found.setdefault((user.uid, user.container), []).append(stats)
        return found

    def changed(self, node: str) -> None:
        """Note a change of a node or its pods, after the meters have."""
        self._states.changed(node)
        if self._states.known(node) is None:
            self._pages.pop(node, None)

    def _page(self, node: str, wanted: tuple[str, str]) -> bytes | None:
        gpus = self._states.of(node)
        readings = self._states.readings_of(gpus) if gpus is not None else ()
        if gpus is None or not readings:
            self._pages.pop(node, None)
            return None
        if is_silenced(DEFAULT, readings[0]):
            raise RefusedError(503, f"the exporter of node '{node}' is down, by a fault")
        kept = self._pages.setdefault(node, {}).get(wanted)
        if kept is None or kept.gpus is not gpus or kept.version != gpus.version:
            kept = self._pages[node][wanted] = _made(node, gpus, readings, wanted)
        return kept.page.text(readings)


_USED, _UTILIZATION = BY_NAME["DCGM_FI_DEV_FB_USED"], BY_NAME["DCGM_FI_DEV_GPU_UTIL"]


def _accelerator(reading: GpuReading, user: GpuUser) -> Json:
    """Return what the summary says of a container's device; None if the driver cannot say it."""
    used = shown(_USED, reading, user, of_driver=True)
    utilization = shown(_UTILIZATION, reading, user, of_driver=True)
    if reading.faults.state == "lost" or used is None or utilization is None:
        return None
    return {
        "make": "nvidia",
        "model": reading.model.product or reading.gpu.product,
        "id": user.device_id,
        "memoryTotal": user.room * _MEBI,
        "memoryUsed": round(used) * _MEBI,
        "dutyCycle": round(utilization),
    }


def _made(
    node: str, gpus: NodeGpus, readings: Sequence[GpuReading], wanted: tuple[str, str]
) -> _Kept:
    counters, names = wanted
    page = DcgmPage(node, readings, _SERIES[counters], new_names=_NAMES[names])
    return _Kept(gpus, gpus.version, page)


def _wanted(request: Request) -> tuple[str, str]:
    """Return which counters and names a client asks for."""
    counters, names = request.parameter("counters"), request.parameter("names")
    for given, known in ((counters, _SERIES), (names, _NAMES)):
        if given not in known:
            choices = ", ".join(f"'{each}'" for each in known if each)
            raise RefusedError(400, f"'{given}' is none of {choices}")
    return counters, names
