"""Writes shipped Stages for controllers of another make, so that every release of the original reads them.

Kwok 0.7 knows `next` in place of `steps`. No release has the embedded controller's own functions: it has
`NodeIPWith` and `PodIPWith` alone, and nothing that gives names to containers, images and machines, so
fields with those names are left empty, as it leaves them itself.
"""

import re
from collections.abc import Mapping, Sequence

from kwokctl.json_value import Json

_ARGUMENTS = r"(?:\s+(?:[$.\w]+|\"[^\"]*\"|\((?:[^()]|\([^()]*\))*\)))*"
_NAMES = re.compile(
    rf"\b(?:ContainerID|ImageID|UUIDFor|KubeletAddress|KubeletFeatures)\b{_ARGUMENTS}"
)
_LISTS = re.compile(rf"\b(NodeIP|PodIP)s(With{_ARGUMENTS})")
_NOTHING = '""'
_PATCH = "patch"


def is_portable(stage: Mapping[str, Json]) -> bool:
    """Return whether a Stage can be written so: objects are applied by the newest releases alone."""
    return not any("apply" in step for step in stage["spec"]["steps"])


def portable(stage: Mapping[str, Json]) -> dict[str, Json]:
    """Return a Stage for controllers of another make."""
    spec = {name: part for name, part in stage["spec"].items() if name != "steps"}
    return {**stage, "spec": {**spec, "next": _next(stage["spec"]["steps"])}}


def _next(steps: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the `next` of a Stage: controllers choose the order of an event and of patches themselves."""
    patches = [_patch(step[_PATCH]) for step in steps if _PATCH in step]
    others = {name: part for step in steps for name, part in step.items() if name != _PATCH}
    return {**others, **({"patches": patches} if patches else {})}


def _patch(patch: Mapping[str, Json]) -> dict[str, Json]:
    template = _LISTS.sub(r"list (\1\2)", _NAMES.sub(_NOTHING, patch["template"]))
    return {**patch, "template": template}
