"""The keys under which kube-apiserver stores objects in etcd, and the encodings of the values.

Keys are those of the storage prefixes of Kubernetes (`pkg/kubeapiserver/default_storage_factory_builder.go`,
`SpecialDefaultResourcePrefixes`); custom resources are under their group. The beginning of a value shows
its encoding: `{` for JSON, `k8s` and a zero byte for protocol buffers, `k8s:enc:` for encrypted values.
"""

from functools import lru_cache

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.kube.resource import Resource

_SPECIAL = {
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("", "endpoints"): "services/endpoints",
    ("", "replicationcontrollers"): "controllers",
    ("networking.k8s.io", "ingresses"): "ingress",
}
_PLURALS = {f"{folder}/": plural for (_, plural), folder in _SPECIAL.items()}
_FOLDERS = 256
"""The most folders that are cached: each object's key begins with one."""


def is_readable(value: bytes) -> bool:
    """Return whether a value is stored without encryption."""
    return value.startswith((b"{", PREFIX))


def in_words(path: str) -> tuple[str, str]:
    """Return kubectl's name for the resource at a path below the prefix, and the rest of the path."""
    for folder, plural in _PLURALS.items():
        if path.startswith(folder):
            return plural, path.removeprefix(folder)
    first, _, rest = path.partition("/")
    if "." not in first:
        return first, rest
    plural, _, rest = rest.partition("/")
    return f"{plural}.{first}", rest


class Keys:
    """The keys of a cluster's objects."""

    def __init__(self, prefix: str) -> None:
        """Begin all keys with a prefix such as "/registry"."""
        self._prefix = "/" + prefix.strip("/")
        self._remembered = lru_cache(_FOLDERS)(self._folder)

    def folder(self, resource: Resource, namespace: str | None = None) -> bytes:
        """Return the prefix of the keys of a resource's objects, of all namespaces or of one."""
        return self._remembered(resource, namespace)

    def _folder(self, resource: Resource, namespace: str | None) -> bytes:
        where = _SPECIAL.get((resource.group, resource.plural))
        if where is None:
            # A built-in group ends in ".k8s.io" or has no dot; all other groups are of custom resources.
            is_custom = "." in resource.group and not resource.group.endswith(".k8s.io")
            where = f"{resource.group}/{resource.plural}" if is_custom else resource.plural
        inside = f"{namespace}/" if namespace and resource.namespaced else ""
        return f"{self._prefix}/{where}/{inside}".encode()

    def key(self, resource: Resource, namespace: str | None, name: str) -> bytes:
        """Return the key of one object."""
        return self.folder(resource, namespace) + name.encode()

    def candidates(self, resource: Resource, namespace: str | None, name: str) -> tuple[bytes, ...]:
        """Return the possible keys of an object: groups under `k8s.io` may be built-in or custom."""
        usual = self.key(resource, namespace, name)
        if "." not in resource.group or (resource.group, resource.plural) in _SPECIAL:
            return (usual,)
        inside = f"{namespace}/" if namespace and resource.namespaced else ""
        folders = (resource.plural, f"{resource.group}/{resource.plural}")
        keys = [f"{self._prefix}/{folder}/{inside}{name}".encode() for folder in folders]
        return (usual, *(key for key in keys if key != usual))
