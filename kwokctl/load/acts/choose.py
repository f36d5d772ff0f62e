"""Makes the act that a load names."""

from collections.abc import Callable
from typing import Any

from kwokctl.load.acts.act import Act, ActContext
from kwokctl.load.acts.create import CreateAct
from kwokctl.load.acts.create_in_bulk import BulkCreateAct
from kwokctl.load.acts.object_changes import DeleteAct, PatchAct, ScaleAct
from kwokctl.load.acts.object_lists import ListAct
from kwokctl.load.acts.recreate import RecreateAct
from kwokctl.load.past_api.way import DirectWay

_ACTS: dict[str, Callable[[ActContext, Any], Act]] = {
    "patch": PatchAct,
    "scale": ScaleAct,
    "delete": DeleteAct,
    "recreate": RecreateAct,
    "list": ListAct,
}


def act_of(context: ActContext, way: DirectWay | None = None) -> Act:
    """Return the act of a load; the `way` past the API server is open for those that ask for it."""
    name = context.load.spec.act
    if context.load.spec.bulk and way is not None:
        return BulkCreateAct(context, way)
    if name == "create":
        return CreateAct(context)
    return _ACTS[name](context, getattr(context.load.spec, name))
