"""The parts of a pod that are about containers."""

from typing import NamedTuple


class Part(NamedTuple):
    """A kind of containers."""

    spec: str
    """The field of the spec that lists them."""
    statuses: str
    """The field of the status."""


INIT = Part("initContainers", "initContainerStatuses")
REGULAR = Part("containers", "containerStatuses")
EPHEMERAL = Part("ephemeralContainers", "ephemeralContainerStatuses")
