"""Patches of components, as tests write them."""

from collections.abc import Mapping

from kwokctl.config.patches.patch import ComponentPatch, Patches


def patched(name: str, args: Mapping[str, str | None]) -> Patches:
    """Return what gives one component these arguments."""
    return {name: ComponentPatch(name=name, args=args)}
