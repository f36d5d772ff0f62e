"""Checks whether an API server certainly decodes the status of an object.

It reads etcd without validation, and one value that it cannot decode breaks every list
of that kind. So a status must pass this check before it is written to etcd.

The structs are made from tables of fields. A line of a table is a type's name and its fields, such as

    PodIP ip:Address
    NodeCondition lastHeartbeatTime:Time message:str reason:str status:str type:str

and continues in indented lines. A field's type is a leaf, a type of the table, `[T]` for a
list, or `{T}` for a map by texts. Every field may be missing, or null, as the API server has it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses.leaves import LEAVES, Address, leaf_of

Fields = Mapping[str, str]

_PLAIN: Mapping[str, Any] = {
    "str": str,
    "bool": bool,
    "int32": Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)],
    "int64": Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    **{leaf.__name__: leaf for leaf in LEAVES},
}


def read_tables(*tables: str) -> dict[str, Fields]:
    """Return the types of some tables, with the types of their fields by name."""
    types: dict[str, Fields] = {}
    for table in tables:
        for line in _lines(table):
            name, *fields = line.split()
            types[name] = {field: type_ for field, _, type_ in (f.partition(":") for f in fields)}
    return types


def _lines(table: str) -> Iterator[str]:
    """Yield lines, each joined with its continuation lines."""
    whole = ""
    for line in table.splitlines():
        if line.startswith(" "):
            whole += line
            continue
        if whole:
            yield whole
        whole = line
    if whole:
        yield whole


class Structs:
    """Makes the structs of a table, each when it is needed for the first time."""

    def __init__(
        self, types: Mapping[str, Fields], checks: Mapping[str, Callable[[Any], None]]
    ) -> None:
        """Use the types of a table; `checks` look at whole values, by the name of their type."""
        self._types = types
        self._checks = checks
        self.struct = cache(self._struct)

    def _struct(self, name: str) -> type[msgspec.Struct]:
        check = self._checks.get(name)
        return msgspec.defstruct(
            name,
            [(field, self._type(word) | None, None) for field, word in self._types[name].items()],
            namespace={"__post_init__": check} if check else None,
            forbid_unknown_fields=True,
            gc=False,
            kw_only=True,
        )

    def _type(self, word: str) -> Any:
        if word in _PLAIN:
            return _PLAIN[word]
        if word.startswith("["):
            return list[self._type(word[1:-1])]  # type: ignore[misc]  # made at run time
        if word.startswith("{"):
            return dict[str, self._type(word[1:-1])]  # type: ignore[misc]  # made at run time
        return self.struct(word)


NODE_TYPES = """\
ConfigMapNodeConfigSource kubeletConfigKey:str name:str namespace:str resourceVersion:str
    uid:str
NodeConfigSource configMap:ConfigMapNodeConfigSource
NodeAddress address:str type:str
NodeCondition lastHeartbeatTime:Time lastTransitionTime:Time message:str reason:str status:str
    type:str
NodeConfigStatus active:NodeConfigSource assigned:NodeConfigSource error:str
    lastKnownGood:NodeConfigSource
DaemonEndpoint Port:int32
NodeDaemonEndpoints kubeletEndpoint:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:bool
ContainerImage names:[str] sizeBytes:int64
NodeSwapStatus capacity:int64
NodeSystemInfo architecture:str bootID:str containerRuntimeVersion:str kernelVersion:str
    kubeProxyVersion:str kubeletVersion:str machineID:str operatingSystem:str osImage:str
    swap:NodeSwapStatus systemUUID:str
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:bool userNamespaces:bool
NodeRuntimeHandler features:NodeRuntimeHandlerFeatures name:str
AttachedVolume devicePath:str name:str
NodeStatus addresses:[NodeAddress] allocatable:{Quantity} capacity:{Quantity}
    conditions:[NodeCondition] config:NodeConfigStatus daemonEndpoints:NodeDaemonEndpoints
    declaredFeatures:[str] features:NodeFeatures images:[ContainerImage] nodeInfo:NodeSystemInfo
    phase:str runtimeHandlers:[NodeRuntimeHandler] volumesAttached:[AttachedVolume]
    volumesInUse:[str]
"""


POD_TYPES = """\
ResourceClaim name:str request:str
ResourceRequirements claims:[ResourceClaim] limits:{Quantity} requests:{Quantity}
ResourceHealth health:str message:str resourceID:str
ResourceStatus name:str resources:[ResourceHealth]
ContainerStateRunning startedAt:Time
ContainerStateTerminated containerID:str exitCode:int32 finishedAt:Time message:str reason:str
    signal:int32 startedAt:Time
ContainerStateWaiting message:str reason:str
ContainerState running:ContainerStateRunning terminated:ContainerStateTerminated
    waiting:ContainerStateWaiting
LinuxContainerUser gid:int64 supplementalGroups:[int64] uid:int64
ContainerUser linux:LinuxContainerUser
ImageVolumeStatus imageRef:str
VolumeStatus image:ImageVolumeStatus
VolumeMountStatus mountPath:str name:str readOnly:bool recursiveReadOnly:str
    volumeStatus:VolumeStatus
ContainerStatus allocatedResources:{Quantity} allocatedResourcesStatus:[ResourceStatus]
    containerID:str image:str imageID:str lastState:ContainerState name:str ready:bool
    resources:ResourceRequirements restartCount:int32 started:bool state:ContainerState
    stopSignal:str user:ContainerUser volumeMounts:[VolumeMountStatus]
PodCondition lastProbeTime:Time lastTransitionTime:Time message:str observedGeneration:int64
    reason:str status:str type:str
ContainerExtendedResourceRequest containerName:str requestName:str resourceName:str
PodExtendedResourceClaimStatus requestMappings:[ContainerExtendedResourceRequest]
    resourceClaimName:str
HostIP ip:Address
NodeAllocatableResourceClaimStatus containers:[str] resourceClaimName:str resources:{Quantity}
PodIP ip:Address
PodResourceClaimStatus name:str resourceClaimName:str
PodStatus allocatedResources:{Quantity} conditions:[PodCondition]
    containerStatuses:[ContainerStatus] ephemeralContainerStatuses:[ContainerStatus]
    extendedResourceClaimStatus:PodExtendedResourceClaimStatus hostIP:AddressIfAny
    hostIPs:[HostIP] initContainerStatuses:[ContainerStatus] message:str
    nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus]
    nominatedNodeName:str observedGeneration:int64 phase:str podIP:AddressIfAny podIPs:[PodIP]
    qosClass:str reason:str resize:str resourceClaimStatuses:[PodResourceClaimStatus]
    resources:ResourceRequirements startTime:Time
"""

_Decoder = msgspec.json.Decoder[msgspec.Struct]

_KINDS = frozenset({NODES, PODS})

_PLACED = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)
_SOME_KEY = "[...]"
_STEP = re.compile(r"[^.\[\]]+")

TYPES = read_tables(NODE_TYPES, POD_TYPES)
"""The types of the API, by the names it has for them, with their fields."""


def check_status(resource: Resource, raw: bytes) -> str | None:
    """Return what an API server might not decode in the JSON of a status, with its place, or None.

    Such as `allocatable.cpu: '1O' is not a quantity`. Fields that are not known here count, too.
    Whether the API server would have admitted a change is another question.
    """
    if resource not in _KINDS:
        return f"the status of kind '{resource.kind}' is not known here"
    return _problem(_decoder(f"{resource.kind}Status"), raw)


def _check_node_address(address: Any) -> None:
    if address.type in {"InternalIP", "ExternalIP"}:
        leaf_of(Address, address.address)


_structs = Structs(TYPES, {"NodeAddress": _check_node_address})


@cache
def _decoder(name: str) -> _Decoder:
    return msgspec.json.Decoder(_structs.struct(name), dec_hook=leaf_of)


def _problem(decoder: _Decoder, raw: bytes) -> str | None:
    try:
        decoder.decode(raw)
    except msgspec.ValidationError as e:
        return _phrase(decoder, raw, str(e))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        return f"not JSON: {e}"
    return None


def _phrase(decoder: _Decoder, raw: bytes, message: str) -> str:
    found = _PLACED.fullmatch(message)
    problem, place = found.groups() if found else (message, "")
    problem = problem[:1].lower() + problem[1:].replace("`", "'")
    if place.endswith(_SOME_KEY):
        place = place.removesuffix(_SOME_KEY)
        place = f"{place}.{_wrong_key(decoder, raw, place)}"
    return f"{place}: {problem}" if place else problem


def _wrong_key(decoder: _Decoder, raw: bytes, place: str) -> str:
    """Return the key of the map at a place whose value is refused; messages do not name it."""
    document = msgspec.json.decode(raw)
    values = document
    for step in _STEP.findall(place):
        values = values[int(step) if isinstance(values, list) else step]
    for key, value in list(values.items()):
        values.clear()
        values[key] = value
        try:
            decoder.decode(msgspec.json.encode(document))
        except msgspec.ValidationError:
            return str(key)
    return "?"
