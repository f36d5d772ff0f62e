"""The turn of a conduct, for which objects wait in place of a Stage."""

import msgspec

from kwokctl.controller.stages.stage_places import StagePlace


class ConductTurn(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """The turn of a conduct: metrics and logs show its name where they show that of a Stage."""

    name: str

    def place(self, field: str) -> StagePlace:
        """Return its name for the log."""
        return StagePlace(self.name, field=field)

    def field_of(self, step: int) -> str:
        """Return an empty text: it has no steps with templates."""
        return ""
