"""Declares options: each is declared once, and its flag, variable and key are derived from that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from kwokctl.config import checks
from kwokctl.model import ComponentName

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionValue = str | int | float | bool | tuple[str, ...]
"""The value of an option."""

V = TypeVar("V", bound=OptionValue)

PORT = "PORT"
"""The metavar of the options that hold a port of this machine."""
_CHECKS: Mapping[str, checks.Check] = {
    "ARCHIVE": checks.archive,
    "FILE": checks.file,
    "IMAGE": checks.image,
    "IMAGE-OR-FILE": checks.image_or_file,
    "IP": checks.address,
    "PROGRAM": checks.program,
    "QUANTITY": checks.quantity,
    "URL": checks.mirror,
}

GENERAL = "General"
PROGRAMS = "Programs (a path, a URL, or URL#member)"
COMPONENTS = "Components"
SERVER = "API server"
PORTS = "Ports on this machine (0 picks a free one)"
ETCD = "etcd"
IMAGES = "Components that are containers"
NODES = "Fake nodes"
PANELS = (GENERAL, PROGRAMS, COMPONENTS, SERVER, PORTS, ETCD, IMAGES, NODES)
"""The parts of the help, in their order; those of other components follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentOptions:
    """The options of one component; a subclass declares those that it has."""

    component: ClassVar[ComponentName]

    port: int = 0
    """On this machine; 0 until one is chosen."""
    binary: str = ""
    image: str = ""


class Spelling(msgspec.Struct, frozen=True, kw_only=True):
    """The spellings of an option in each place where it can be given; empty where it cannot."""

    owner: type[object]
    """The class that declares it."""
    attribute: str
    """Its name there."""
    field: str
    """Its name among all options."""
    flag: str
    env: str
    key: str
    help: str
    group: str
    metavar: str
    type: Any
    default: OptionValue
    within: tuple[int, int]
    """The least and the largest number that it takes."""
    check: checks.Check
    """Returns the fault of a text; an empty text means "not given"."""
    choices: tuple[str, ...] = ()
    """The only words that it takes; empty if it takes any."""
    original: OptionValue | None = None
    """The original's default where it differs from ours, or what the original does if it has no such option."""
    deprecated: str = ""
    """The replacement of a deprecated option; empty if it is not deprecated."""

    @property
    def is_port(self) -> bool:
        """Return whether it holds a port of this machine."""
        return self.metavar == PORT


def option(default: V, help_text: str, *, group: str, metavar: str = "", **more: object) -> V:
    """Declare one option; `flag`, `env` and `key` are derived from its name unless given.

    Its `name` among all options is that of the field, after the component's for one of a component,
    unless given. What its values must look like follows from the `metavar` unless given.
    """
    metadata = {
        "help": help_text,
        "group": group,
        "metavar": metavar,
        "within": checks.PORTS if metavar == PORT else checks.INT32,
        "check": _CHECKS.get(metavar, checks.text),
        **more,
    }
    return field(default=default, metadata=metadata)


def port_option(title: str, **more: object) -> int:
    """Declare the port of a component."""
    return option(0, title, group=PORTS, metavar=PORT, **more)


def binary_option(title: str, **more: object) -> str:
    """Declare the program that is run for a component, or a tool, in place of the usual one."""
    return option("", title, group=PROGRAMS, metavar="PROGRAM", **more)


def version_option(title: str, default: str, check: checks.Check, **more: object) -> str:
    """Declare which version of a project is got; it has no flag."""
    said = f"Version of {title}"
    return option(default, said, group=PROGRAMS, metavar="VERSION", flag="", check=check, **more)


def image_option(title: str) -> str:
    """Declare the image that a component is started from in place of the usual one."""
    return option("", title, group=IMAGES, metavar="IMAGE")


def binary_prefix_option(title: str) -> str:
    """Declare the mirror from which the programs of a project are got."""
    return option("", f"Mirror of the {title} downloads", group=PROGRAMS, metavar="URL", flag="")


def image_prefix_option(title: str) -> str:
    """Declare the mirror from which the images of a project are got."""
    help_text = f"Mirror of the {title} image"
    return option("", help_text, group=IMAGES, metavar="PREFIX", flag="", check=checks.image)


def declared(owner: type["DataclassInstance"]) -> tuple[Spelling, ...]:
    """Return the options that a class declares."""
    return tuple(
        _spelling(owner, each.name, each.type, each.default, dict(each.metadata))
        for each in fields(owner)
        if "help" in each.metadata
    )


def ports_of(options: ComponentOptions) -> dict[str, int]:
    """Return the ports of a component by the names of the options that hold them."""
    spelled = (each for each in declared(type(options)) if each.is_port)
    return {each.field: int(getattr(options, each.attribute)) for each in spelled}


def _spelling(
    owner: type[object], attribute: str, kind: object, default: Any, metadata: dict[str, Any]
) -> Spelling:
    usual = attribute
    if issubclass(owner, ComponentOptions):
        usual = f"{owner.component.replace('-', '_')}_{attribute}"
    name = metadata.pop("name", usual)
    first, *rest = name.split("_")
    derived = {
        "flag": "--" + name.replace("_", "-"),
        "env": "KWOK_" + name.upper(),
        "key": first + "".join(word.title() for word in rest),
    }
    if metadata.get("env"):
        metadata["env"] = "KWOK_" + metadata["env"]
    return Spelling(
        owner=owner,
        attribute=attribute,
        field=name,
        type=kind,
        default=default,
        **(derived | metadata),
    )
