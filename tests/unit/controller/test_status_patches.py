"""The patch from one status to another, for the known version of an object."""

import msgspec

from kwokctl.controller.status_writes import status_patch
from kwokctl.faults.objects.fault_schema import ObjectMeta


class _Status(msgspec.Struct, omit_defaults=True):
    phase: str = ""
    left: str = ""


def test_a_field_that_is_no_longer_said_is_removed() -> None:
    known = ObjectMeta(name="burnt", uid="u1", resource_version="7")
    patch = status_patch(known, _Status(phase="Landed", left="5s"), _Status(phase="Cleared"))
    assert msgspec.json.decode(patch) == {
        "metadata": {"resourceVersion": "7", "uid": "u1"},
        "status": {"phase": "Cleared", "left": None},
    }
