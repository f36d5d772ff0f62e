"""A change to one component, as a value."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

import msgspec

from kwokctl.json_value import Json
from kwokctl.model import Mount


class Volume(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of this machine that a component sees."""

    name: str = ""
    host_path: str
    mount_path: str
    read_only: bool = False
    path_type: str = ""
    """The required type of the path on this machine, in the words of Kubernetes; empty for any."""

    @property
    def mount(self) -> Mount:
        """Return it as components have it."""
        return Mount(
            host_path=Path(self.host_path),
            mount_path=PurePath(self.mount_path),
            read_only=self.read_only,
        )

    def to_document(self) -> dict[str, Json]:
        """Write it as a document has it."""
        return {
            **({"name": self.name} if self.name else {}),
            "hostPath": self.host_path,
            "mountPath": self.mount_path,
            **({"readOnly": True} if self.read_only else {}),
            **({"pathType": self.path_type} if self.path_type else {}),
        }


class ComponentPatch(msgspec.Struct, frozen=True, kw_only=True):
    """The user's changes to one component; an argument replaces kwokctl's argument of the same name."""

    name: str
    args: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    """By key; None means a bare `--key`."""
    removed: frozenset[str] = frozenset()
    """The keys of arguments that it does not get."""
    envs: Mapping[str, str] = msgspec.field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()

    def then(self, later: "ComponentPatch") -> "ComponentPatch":
        """Return this patch and a later one as one."""
        places = {volume.mount_path: volume for volume in (*self.volumes, *later.volumes)}
        return ComponentPatch(
            name=self.name,
            args={k: v for k, v in {**self.args, **later.args}.items() if k not in later.removed},
            removed=(self.removed - later.args.keys()) | later.removed,
            envs={**self.envs, **later.envs},
            volumes=tuple(places.values()),
        )

    def to_document(self) -> dict[str, Json]:
        """Write it as a document has it."""
        arguments: list[Json] = [
            {"key": key} if value is None else {"key": key, "value": value}
            for key, value in self.args.items()
        ]
        arguments += [{"key": key, "remove": True} for key in sorted(self.removed)]
        parts: dict[str, list[Json]] = {
            "extraArgs": arguments,
            "extraVolumes": [volume.to_document() for volume in self.volumes],
            "extraEnvs": [{"name": name, "value": value} for name, value in self.envs.items()],
        }
        return {"name": self.name, **{key: items for key, items in parts.items() if items}}


Patches = Mapping[str, ComponentPatch]
"""By component."""


def joined(patches: Iterable[ComponentPatch]) -> dict[str, ComponentPatch]:
    """Return one patch for each component; a later one wins."""
    found: dict[str, ComponentPatch] = {}
    for patch in patches:
        found[patch.name] = found[patch.name].then(patch) if patch.name in found else patch
    return found
