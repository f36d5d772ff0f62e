"""The products whose power, temperatures and clocks are known; the data are in `templates/telemetry`."""

from collections.abc import Mapping

import msgspec

from kwokctl import assets
from kwokctl.expr import yaml
from kwokctl.fleet.devices import Gpu

_DATA = "telemetry/gpus.yaml"
_DRIVER = "nvidia.com/cuda.driver-version.full"
"""The label of GPU feature discovery with the version of the driver."""


class PowerRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The power that a GPU draws, in W."""

    idle: float
    limit: float
    """Under full load."""


class TemperatureRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The temperature of a part of a GPU, in °C."""

    idle: float
    load: float
    slowdown: float = 0.0
    """The one at which the GPU begins to slow down; 0 if that is not known."""


class ClockRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The frequency of a clock, in MHz."""

    idle: int
    load: int


class NvLinks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The NVLinks of a GPU."""

    number: int
    speed: int
    """Of one link in one direction, in MB/s."""


class GpuModel(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A product, and what it draws and gives."""

    product: str
    """The name as `nvidia-smi` shows it; empty for the model of all others."""
    driver: str
    memory: int
    """The framebuffer in MiB, for nodes that do not say it; 0 if it is not known."""
    reserved: int
    """The part of the framebuffer that the driver keeps, in MiB."""
    power: PowerRange
    temperature: TemperatureRange
    memory_temperature: TemperatureRange
    sm_clock: ClockRange
    memory_clock: int
    """In MHz, with work and without."""
    nvlinks: NvLinks
    pcie_speed: int
    """In one direction, in MB/s."""
    unverified: tuple[str, ...] = ()
    """The fields whose values no source gives."""


def _key(product: str) -> str:
    """Return a name without hyphens: in labels they also stand for spaces."""
    return product.replace("-", " ")


def _models() -> Mapping[str, GpuModel]:
    known = msgspec.convert(yaml.load(assets.text(_DATA)), tuple[GpuModel, ...])
    return {_key(each.product): each for each in known}


_MODELS = _models()
"""The models by product; they are read before the server answers, which must not wait for a file."""


def model_of(gpu: Gpu) -> GpuModel:
    """Return the model of a GPU by the name of its product."""
    return _MODELS.get(_key(gpu.product)) or _MODELS[""]


def driver_version(labels: Mapping[str, str], model: GpuModel) -> str:
    """Return the version of the driver on a node: what its label says, or the usual one of its GPUs."""
    return labels.get(_DRIVER) or model.driver
