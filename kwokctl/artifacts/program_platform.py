"""Names the operating system and processor that programs are for."""

import sys

import msgspec

from kwokctl.errors import UnavailableError
from kwokctl.host.platforms import machine_name, platform_name, way

_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Platform(msgspec.Struct, frozen=True):
    """An operating system and a processor, as Go and the download hosts name them."""

    os: str
    arch: str

    def __str__(self) -> str:
        """Return, say, `linux-amd64`."""
        return f"{self.os}-{self.arch}"


def here() -> Platform:
    """Return what this machine is; UnavailableError where the programs do not run."""
    machine = machine_name()
    if not sys.platform.startswith("linux") or machine not in _ARCHITECTURES:
        raise UnavailableError(
            f"there are no Kubernetes programs for {platform_name()} on {machine or 'this processor'}",
            hint=way(),
        )
    return Platform("linux", _ARCHITECTURES[machine])
