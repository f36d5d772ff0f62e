"""A request to `scale`, checked before anything is touched."""

import re
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from kwokctl.config.options import ClusterOptions
from kwokctl.embedded.selection import requirements
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_RULE, is_label
from kwokctl.kube.resource import Resource
from kwokctl.replacing import replace

LABEL = "kwok.x-k8s.io/kwokctl-scale"
"""Every object that `scale` makes carries the name of its set under this label."""

DEFAULT_NAMESPACE = "default"

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_LABEL_LENGTH = 63
_NAME_LENGTH = 253
_MOST = 1_000_000_000
"""More objects than any etcd holds."""


Confirm = Callable[[str], Awaitable[bool]]
"""Asks whether to do what a question says."""


async def unasked(_question: str) -> bool:
    """Agree without a question: the user has agreed before, or there is no terminal."""
    return True


class ScaleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A number of copies of a resource template, as one set."""

    kind: str
    """Name of the resource template: `node`, `pod`, or one of the user's."""
    name: str | None = None
    """Name of the set; the template's name if None."""
    replicas: int = 1
    serial_length: int = 6
    """Digits of the number in an object's name; 0 gives a single object the bare name."""
    namespace: str | None = None
    """None: that of the template, else `default`."""
    params: tuple[str, ...] = ()
    """jq programs, each of which turns the parameters into new ones."""
    on_nodes: str | None = None
    """Label selector of the nodes over which pods are spread, one after the other."""
    may_shrink: bool = True
    """Whether objects are deleted where there are more than `replicas`."""
    force: bool = False
    """Whether to continue though etcd or memory will not be enough."""
    grace_seconds: int = 0
    """The grace period of deleted objects in seconds."""
    confirm: Confirm = unasked
    """Asks before more than half of a set that is not small is deleted."""
    wait: float | None = None
    """Seconds to wait until every object is ready, once all are made or deleted: 0 for as long as it
    takes, None not to wait."""
    timeout: float | None = None
    """Seconds in which the objects have to be made and deleted; None for no limit."""

    def __post_init__(self) -> None:
        """Raise UsageError for a request that no cluster could fulfil."""
        if self.replicas < 0:
            raise UsageError(f"--replicas is {self.replicas}, less than 0")
        if self.replicas > _MOST:
            raise UsageError(f"--replicas is {self.replicas}, more than {_MOST:,}")
        if self.grace_seconds < 0:
            raise UsageError(f"--grace-period is {self.grace_seconds}, less than 0")
        if not 0 <= self.serial_length <= 20:
            raise UsageError(f"--serial-length is {self.serial_length}, not one of 0 to 20")
        if self.serial_length == 0 and self.replicas > 1:
            raise UsageError(
                f"--serial-length 0 gives one bare name, but --replicas is {self.replicas}",
                hint="use a --serial-length of at least 1, or --replicas 1",
            )
        self._check_namespace()
        if self.on_nodes:
            requirements(self.on_nodes)
        self._check_name()

    @property
    def set_name(self) -> str:
        """The name of the set, which its objects carry under the label."""
        return self.name or self.kind

    @property
    def selector(self) -> str:
        """The label selector that finds the members of the set."""
        return f"{LABEL}={self.set_name}"

    def object_name(self, serial: int) -> str:
        """Return the name of the object with this number."""
        if self.serial_length == 0:
            return self.set_name
        return f"{self.set_name}-{serial:0{self.serial_length}d}"

    def serial_of(self, name: str) -> int | None:
        """Return the number of the object with this name; None if no number gives it."""
        if self.serial_length == 0:
            return 0 if name == self.set_name else None
        digits = name.removeprefix(f"{self.set_name}-")
        if not (digits.isascii() and digits.isdecimal()):
            return None
        serial = int(digits)
        return serial if self.object_name(serial) == name else None

    def placed(self, resource: Resource, body: Mapping[str, Json]) -> "ScaleRequest":
        """Return the request with the namespace of its objects; `body` is the first object.

        Raises UsageError for a namespace that the kind or the template does not allow.
        """
        given = self.namespace
        if not resource.namespaced:
            if given is not None:
                raise UsageError(
                    f"'--namespace' is '{given}', but {resource.plural} are in no namespace",
                    hint=f"leave it out; the number of {resource.plural} is --replicas N",
                )
            return self
        own = body["metadata"].get("namespace") or None
        if given is not None and own not in {None, given}:
            raise UsageError(
                f"'--namespace' is '{given}', but the template '{self.kind}' puts its objects into "
                f"'{own}'",
                hint="leave --namespace out, or write '{{ Namespace }}' in the template",
            )
        return replace(self, namespace=given or own or DEFAULT_NAMESPACE)

    def _check_namespace(self) -> None:
        given = self.namespace
        if given is None:
            return
        if given.isdecimal():
            raise UsageError(
                f"'--namespace' is '{given}', a number",
                hint=f"for {given} objects: kwokctl scale {self.kind} --replicas {given}",
            )
        if not is_label(given):
            raise UsageError(
                f"'--namespace' is '{given}', which cannot be the name of a namespace",
                hint=LABEL_RULE,
            )

    def _check_name(self) -> None:
        name = self.set_name
        if self.name and self.name.isdecimal():
            raise UsageError(
                f"'{name}' is a number, not a name for a set of objects",
                hint=f"for {name} objects: kwokctl scale {self.kind} --replicas {name}",
            )
        if "/" in self.kind:
            raise UsageError(
                f"'{self.kind}' is an object, not the name of a resource template",
                hint=f"'kwokctl kubectl scale {self.kind} --replicas {self.replicas}' scales it",
            )
        if not _NAME.fullmatch(name) or len(name) > _LABEL_LENGTH:
            raise UsageError(
                f"'{name}' cannot name a set of objects",
                hint="use at most 63 lower-case letters, digits, '-' and '.', such as 'gpu-node'",
            )
        if len(self.object_name(self.replicas)) > _NAME_LENGTH:
            raise UsageError(f"objects of '{name}' would have names of more than 253 characters")


class ScaleResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of scaling."""

    kind: str
    """Kind of the objects, as the cluster spells it: `Node`."""
    name: str
    """Name of the set."""
    namespace: str = ""
    """The namespace of its objects; empty for kinds without namespaces."""
    created: int = 0
    deleted: int = 0
    existing: int = 0
    """Members there were before."""
    held: int = 0
    """Deleted members that exist until their finalizers are removed."""
    broken: int = 0
    """Nodes that were not waited for, since a user has broken them."""
    companions: int = 0
    """Further objects that were created for them."""

    @property
    def count(self) -> int:
        """The present number of members."""
        return self.existing + self.created - self.deleted

    @property
    def is_unchanged(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.created or self.deleted or self.companions)


def first_sets(options: ClusterOptions) -> list[ScaleRequest]:
    """Return the requests, nodes first; UsageError for numbers that no cluster could hold."""
    wanted = {"node": options.objects.nodes, "pod": options.objects.pods}
    return [
        ScaleRequest(kind=kind, replicas=replicas, may_shrink=False)
        for kind, replicas in wanted.items()
        if replicas
    ]
