"""The parts that a GPU can be divided into (MIG), and what each takes of it. Pure.

Names, attributes and counters are those of NVIDIA's DRA driver, which publishes each part that there may be
(https://github.com/NVIDIA/k8s-dra-driver-gpu, cmd/gpu-kubelet-plugin/partitions.go and mig.go). Profiles of the H100 with 80 GB
are those that `nvidia-smi mig -lgip` lists; not verified: the numbers of 4g.40gb and 7g.80gb, and the placements.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json

_H100 = "NVIDIA H100 80GB HBM3"


class MigProfile(msgspec.Struct, frozen=True):
    """A kind of parts."""

    name: str
    number: int
    """The id that the driver gives it."""
    size: int
    """Memory slices of a part."""
    starts: tuple[int, ...]
    """The memory slices with which a part may begin."""
    memory: int
    """MiB of a part."""
    multiprocessors: int
    copy_engines: int
    decoders: int
    jpeg_engines: int
    ofa_engines: int = 0

    @property
    def capacity(self) -> dict[str, Json]:
        """The capacity of a part, as quantities."""
        return {
            "copyEngines": str(self.copy_engines),
            "decoders": str(self.decoders),
            "encoders": "0",
            "jpegEngines": str(self.jpeg_engines),
            "memory": f"{self.memory}Mi",
            "multiprocessors": str(self.multiprocessors),
            "ofaEngines": str(self.ofa_engines),
        }

    def counters(self, start: int) -> dict[str, Json]:
        """Return what a part that begins with a memory slice takes of its GPU."""
        taken = range(start, start + self.size)
        return {
            **{_counter(key): value for key, value in self.capacity.items()},
            **{f"memory-slice-{number}": "1" for number in taken},
        }


_PROFILES: Mapping[str, Sequence[MigProfile]] = {
    _H100: (
        MigProfile("1g.10gb", 19, 1, tuple(range(7)), 9984, 16, 1, 1, 1),
        MigProfile("1g.10gb+me", 20, 1, tuple(range(7)), 9984, 16, 1, 1, 1, ofa_engines=1),
        MigProfile("1g.20gb", 15, 2, (0, 2, 4, 6), 20096, 26, 1, 1, 1),
        MigProfile("2g.20gb", 14, 2, (0, 2, 4), 20096, 32, 2, 2, 2),
        MigProfile("3g.40gb", 9, 4, (0, 4), 40448, 60, 3, 3, 3),
        MigProfile("4g.40gb", 5, 4, (0,), 40448, 64, 4, 4, 4),
        MigProfile("7g.80gb", 0, 8, (0,), 81152, 132, 8, 7, 7, ofa_engines=1),
    )
}
"""By product; the last takes the whole GPU."""


def whole_counters(product: str) -> dict[str, Json]:
    """Return all that a GPU has; ExpressionError for a product whose parts are not known."""
    return _profiles(product)[-1].counters(0)


def counter_set(index: int) -> str:
    """Return the name of the counters of a GPU."""
    return f"gpu-{index}-counter-set"


def parts(index: int, product: str) -> Iterator[dict[str, Json]]:
    """Yield each part that there may be of a GPU: `name`, `profile`, `capacity` and `counters`."""
    for profile in _profiles(product):
        words = profile.name.replace(".", "").replace("+", "-")
        for start in profile.starts:
            yield {
                "name": f"gpu-{index}-mig-{words}-{profile.number}-{start}",
                "profile": profile.name,
                "capacity": profile.capacity,
                "counters": profile.counters(start),
            }


def _profiles(product: str) -> Sequence[MigProfile]:
    if product not in _PROFILES:
        known = ", ".join(f"'{name}'" for name in _PROFILES)
        raise ExpressionError(
            f"mig: the parts of the GPU '{product}' are not known",
            hint=f"known are those of {known} (the label nvidia.com/gpu.product); leave 'mig' out for others",
        )
    return _PROFILES[product]


def _counter(capacity: str) -> str:
    """Return the name of the counter of a capacity: `copy-engines` of `copyEngines`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in capacity)
