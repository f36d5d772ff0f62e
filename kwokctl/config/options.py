"""Holds all options of a cluster, in nested groups.

The command line, the environment, configuration files and the saved state of a cluster are all read
by the declarations of its options. Those of a component are declared where it is described, and are
part of a cluster's as one of its `components`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.config import checks, flag_words, version_checks
from kwokctl.config.add_on_images import AddOnImageOptions
from kwokctl.config.declaring import (
    GENERAL,
    PANELS,
    ComponentOptions,
    OptionValue,
    Spelling,
    declared,
    option,
)
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.groups import (
    ArgumentOptions,
    DataPathOptions,
    LimitOptions,
    MirrorOptions,
    ProgramOptions,
    SelectionOptions,
    ToolOptions,
)
from kwokctl.config.node_options import HeartbeatOptions, ObjectOptions
from kwokctl.config.profiles import PROFILES
from kwokctl.config.tracing_options import TracingOptions
from kwokctl.host.ports import ANY
from kwokctl.model import ComponentName
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound=ComponentOptions)
_COMPONENTS = ("components", "extras")
"""The fields that are no groups of options."""


def _log_level(word: str) -> checks.InvalidText | None:
    """Accept a level of the log."""
    try:
        flag_words.read_level(word)
    except ValueError:
        hint = "for example: DEBUG, INFO, WARN, ERROR, -4 or INFO+2"
        return checks.InvalidText("not a level", hint)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """The options of a cluster. Empty strings mean "not given"; ports of 0 mean "pick one"."""

    runtime: str = option(
        "",
        "Where components run: binary (processes), docker or podman (containers), kind or "
        "kind-podman (in a node made by kind) [default: auto, the first of binary and docker that "
        "works on this machine]",
        group=GENERAL,
        metavar="NAME",
    )
    # Processes need no privileges, no engine and no images, and are the fastest. Where kind could run,
    # containers can, in less time and memory; so it is only taken when asked for.
    runtimes: tuple[str, ...] = option(
        ("binary", "docker"),
        "Runtimes to try, in this order; the first that works on this machine is used",
        group=GENERAL,
        metavar="NAME,…",
        flag="",
        env="",
        original=("docker", "podman", "nerdctl", "binary"),
    )
    kube_version: str = option(
        DEFAULT_KUBE_VERSION,
        "Version of Kubernetes; 1.35 means its newest known patch",
        group=GENERAL,
        metavar="VERSION",
        check=version_checks.kubernetes,
        original="v1.36.1",
    )
    programs: ProgramOptions = field(default_factory=ProgramOptions)
    compat: str = option(
        "",
        "Use the defaults and exit codes of another program: kwokctl, the original",
        group=GENERAL,
        metavar="WHICH",
        choices=("kwokctl",),
    )
    profile: str = option(
        "",
        "Options for clusters of a size, together (etcd's quota, heartbeats, garbage collection, "
        "requests in flight, parallelism): small (100 nodes), 1k, 10k or 50k; options that are "
        "given separately take precedence",
        group=GENERAL,
        metavar="SIZE",
        choices=tuple(PROFILES),
    )
    bind_address: str = option(
        "127.0.0.1",
        "Address on which components listen; the original kwokctl listens on all",
        group=GENERAL,
        metavar="IP",
        original=ANY,
    )
    restart: str = option(
        "no",
        "Restart components that die: no or on-failure",
        group=GENERAL,
        metavar="POLICY",
        choices=("no", "on-failure"),
    )
    verbosity: str = option(
        "",
        "Log level of the components, as given with -v",
        group=GENERAL,
        flag="",
        env="",
        check=_log_level,
    )
    data_path: DataPathOptions = field(default_factory=DataPathOptions)
    selection: SelectionOptions = field(default_factory=SelectionOptions)
    arguments: ArgumentOptions = field(default_factory=ArgumentOptions)
    components: tuple[ComponentOptions, ...] = ()
    """Those of each component that there is, whether or not the cluster has it."""
    extras: tuple[ExtraComponent, ...] = ()
    """The components that its user describes; the cluster has all of them."""
    tools: ToolOptions = field(default_factory=ToolOptions)
    mirrors: MirrorOptions = field(default_factory=MirrorOptions)
    add_on_images: AddOnImageOptions = field(default_factory=AddOnImageOptions)
    limits: LimitOptions = field(default_factory=LimitOptions)
    tracing: TracingOptions = field(default_factory=TracingOptions)
    objects: ObjectOptions = field(default_factory=ObjectOptions)
    heartbeat: HeartbeatOptions = field(default_factory=HeartbeatOptions)

    def of(self, kind: type[T]) -> T:
        """Return the options of a component by the class that declares them."""
        return next(each for each in self.components if isinstance(each, kind))

    def component(self, name: ComponentName) -> ComponentOptions:
        """Return what all components have in common of the options of one."""
        return next(each for each in self.components if each.component == name)

    def described(self, name: str) -> ExtraComponent | None:
        """Return a component that its user describes; None if no component has that name."""
        return next((each for each in self.extras if each.name == name), None)


def spellings(options: ClusterOptions) -> tuple[Spelling, ...]:
    """Return how each option is written, in the order of the help."""
    return _spellings(tuple(type(each) for each in options.components))


@cache
def _spellings(components: tuple[type[ComponentOptions], ...]) -> tuple[Spelling, ...]:
    found: list[Spelling] = []
    own = {spelling.attribute: spelling for spelling in declared(ClusterOptions)}
    for each in fields(ClusterOptions):
        if each.name in own:
            found.append(own[each.name])
            continue
        owners = components if each.name == "components" else _owners(each.name)
        found += [spelling for owner in owners for spelling in declared(owner)]
    return tuple(sorted(found, key=_rank))


def _owners(group: str) -> "tuple[type[DataclassInstance], ...]":
    """Return the class of a group of options; none for components that a user describes."""
    return tuple(owner for name, owner in _groups().items() if name == group)


def _rank(spelling: Spelling) -> int:
    return PANELS.index(spelling.group) if spelling.group in PANELS else len(PANELS)


def value_of(options: ClusterOptions, spelling: Spelling) -> object:
    """Return the value of one option."""
    owners = (options, *options.components, *(getattr(options, name) for name in _groups()))
    owner = next(each for each in owners if type(each) is spelling.owner)
    return getattr(owner, spelling.attribute)


def with_values(options: ClusterOptions, values: Mapping[str, OptionValue]) -> ClusterOptions:
    """Return options with other values, which are given by the names of the options."""
    by_name = {spelling.field: spelling for spelling in spellings(options)}
    by_owner: dict[type[object], dict[str, Any]] = {}
    for name, value in values.items():
        spelling = by_name[name]
        by_owner.setdefault(spelling.owner, {})[spelling.attribute] = value
    changed = by_owner.get(ClusterOptions, {})
    for name, owner in _groups().items():
        if owner in by_owner:
            changed[name] = replace(getattr(options, name), **by_owner[owner])
    changed["components"] = tuple(
        replace(each, **by_owner.get(type(each), {})) for each in options.components
    )
    return replace(options, **changed)


@cache
def _groups() -> "Mapping[str, type[DataclassInstance]]":
    """Return the class of each group of options, by field; not those of components."""
    others = {*_COMPONENTS, *(spelling.attribute for spelling in declared(ClusterOptions))}
    return {
        each.name: each.type
        for each in fields(ClusterOptions)
        if each.name not in others and isinstance(each.type, type)
    }
