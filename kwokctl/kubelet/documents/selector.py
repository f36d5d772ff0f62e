"""Selects the pods of a document of a cluster-wide kind."""

import msgspec

from kwokctl.kubelet.fleet.views import PodView


class PodSelector(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Selects pods by namespace and by name; what is not given selects all."""

    match_namespaces: tuple[str, ...] = ()
    match_names: tuple[str, ...] = ()

    def matches(self, pod: PodView) -> bool:
        """Tell whether a pod is selected."""
        return _has(self.match_namespaces, pod.namespace) and _has(self.match_names, pod.name)


def _has(names: tuple[str, ...], name: str) -> bool:
    return not names or name in names
