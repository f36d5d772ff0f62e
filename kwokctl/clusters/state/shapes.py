"""The shapes of machines that `scale` can make nodes of, for people to choose from."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.clusters.state.companion_templates import COMPANIONS
from kwokctl.clusters.state.kept_documents import FOR_SCALE
from kwokctl.clusters.state.resource_templates import (
    ResourceTemplate,
    find_template,
    load_templates,
    shape_files,
)
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import CONFIGURATION
from kwokctl.json_value import Json

_NO_DEVICES = ("cpu", "memory", "pods", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"


class MachineShape(msgspec.Struct, frozen=True, kw_only=True):
    """A shape, and the things that a node of it has."""

    name: str
    cpu: str
    memory: str
    devices: Mapping[str, str]
    """The number of each extended resource."""
    labels: Mapping[str, str]
    document: Mapping[str, Json]
    """The whole KwokctlResource, which can be changed and given to `--config`."""


def shapes(documents: Sequence[Document], names: Sequence[str] = ()) -> list[MachineShape]:
    """Return the built-in shapes and those among `documents`, or the ones with these names.

    Raises UsageError for a name of no template, and ConfigError for a document that is not valid.
    """
    templates = load_templates(documents)
    own = [each.name for each in documents if each.kind == FOR_SCALE]
    wanted = names or [*own, *(each for each in shape_files() if each not in own)]
    found = [_shape(find_template(templates, name)) for name in wanted]
    return [each for each in found if each is not None]


def _shape(template: ResourceTemplate) -> MachineShape | None:
    """Return the shape that a template gives nodes; None if its parameters tell of no node."""
    parameters = template.parameters if isinstance(template.parameters, dict) else {}
    resources = parameters.get("allocatable")
    if not isinstance(resources, dict):
        return None
    whole = {**resources, **(parameters.get("capacity") or {})}
    return MachineShape(
        name=template.name,
        cpu=str(whole.get("cpu", "")),
        memory=str(whole.get("memory", "")),
        devices={name: str(number) for name, number in resources.items() if _is_device(name)},
        labels={key: str(value) for key, value in (parameters.get("labels") or {}).items()},
        document={
            "apiVersion": CONFIGURATION,
            "kind": FOR_SCALE,
            "metadata": {"name": template.name},
            "parameters": parameters,
            "template": template.template,
            **_companions(template),
        },
    )


def _companions(template: ResourceTemplate) -> dict[str, Json]:
    found = [each.as_document() for each in template.companions]
    return {COMPANIONS: found} if found else {}


def _is_device(resource: str) -> bool:
    return resource not in _NO_DEVICES and not resource.startswith(_HUGE_PAGES)
