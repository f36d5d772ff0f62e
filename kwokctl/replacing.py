"""Copies a value with other fields: of Structs, and of the dataclasses that declare options."""

from typing import TYPE_CHECKING, Any

__all__ = ["replace"]

if TYPE_CHECKING:
    # Type checkers know its fields and their types, also those of a Struct.
    from dataclasses import replace
else:
    import dataclasses

    import msgspec.structs

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return a copy of a value in which some fields have other values; TypeError for a name of no field."""
        if isinstance(value, msgspec.Struct):
            return msgspec.structs.replace(value, **changes)
        return dataclasses.replace(value, **changes)
