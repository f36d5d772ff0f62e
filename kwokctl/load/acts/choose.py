"""Makes the act that a load names."""

from collections.abc import Callable
from typing import Any

from kwokctl.load.acts.act import Act, ActContext
from kwokctl.load.acts.changes import DeleteAct, PatchAct, ScaleAct
from kwokctl.load.acts.create import CreateAct
from kwokctl.load.acts.listing import ListAct
from kwokctl.load.acts.recreate import RecreateAct

_ACTS: dict[str, Callable[[ActContext, Any], Act]] = {
    "patch": PatchAct,
    "scale": ScaleAct,
    "delete": DeleteAct,
    "recreate": RecreateAct,
    "list": ListAct,
}


def act_of(context: ActContext) -> Act:
    """Return the act of a load."""
    name = context.load.spec.act
    if name == "create":
        return CreateAct(context)
    return _ACTS[name](context, getattr(context.load.spec, name))
