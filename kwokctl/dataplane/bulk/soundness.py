"""Decides which copies the API server accepts if their statuses differ in values of a template."""

from collections.abc import Callable

from kwokctl.dataplane.copies.json_stamp import Stamp
from kwokctl.dataplane.copies.symbolic_object import filled
from kwokctl.dataplane.copies.variable_fields import Copy, Role
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses import check_change, takes_any_text

_STATUS = "status"


def soundness(resource: Resource, body: Json, stamp: Stamp) -> Callable[[Copy], bool]:
    """Return the check of the copies that a stamp makes of an object that the API server has accepted.

    Names, times and addresses are accepted with certainty, and so are values that Stages made of them.
    """
    readers = {
        slot.path: slot.source.reader()
        for slot in stamp.slots
        if slot.path[0] == _STATUS and slot.source.role is Role.SERIAL
    }
    if not readers or resource not in {NODES, PODS}:
        return lambda _: True
    texts = [readers.pop(path) for path in list(readers) if takes_any_text(resource, path[1:])]
    parts = {str(path[1]) for path in readers}

    def is_sound(copy: Copy) -> bool:
        for read in texts:
            if type(read(copy)) is not str:
                return False
        if not parts:
            return True
        values = {path: read(copy) for path, read in readers.items()}
        news = {part: filled(body[_STATUS][part], (_STATUS, part), values) for part in parts}
        after = {**body, _STATUS: {**body[_STATUS], **news}}
        return check_change(resource, body, after, parts) is None

    return is_sound
