"""Statuses of kwokctl's own kinds are stored whole, or the error says what the definition of the kind lacks."""

import asyncio
from random import Random
from typing import Any, cast

import pytest

from kwokctl.controller.status_writes import LackingFieldError, put_status
from kwokctl.controller.write_errors import error_kind, wait_after
from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.repairs.repair_schema import RepairStatus
from kwokctl.kube.client import Client
from kwokctl.kube.resource import REPAIRS

META = ObjectMeta(name="r", uid="u", resource_version="7")


class Refusing:
    """An API server that refuses everything, with a message."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.paths: list[str] = []

    async def call(self, verb: str, path: str, *_: Any, **__: Any) -> bytes:
        self.paths.append(path)
        raise ApiError(self.message, status=422, reason="Invalid")


def refusal(message: str) -> tuple[ApiError, list[str]]:
    server = Refusing(message)
    before, after = RepairStatus(), RepairStatus(takes=5.0, phase="Running")
    with pytest.raises(ApiError) as refused:
        asyncio.run(put_status(cast("Client", server), REPAIRS, META, before, after))
    return refused.value, server.paths


def test_a_field_that_the_definition_lacks_is_named_with_a_remedy() -> None:
    message = 'patch: Invalid value: "{…}": strict decoding error: unknown field "status.takes", unknown field "status.clock"'
    error, paths = refusal(message)

    assert isinstance(error, LackingFieldError)
    assert paths == ["/apis/kwokctl.dev/v1alpha1/repairs/r/status?fieldValidation=Strict"]
    assert "'repairs.kwokctl.dev'" in str(error)
    assert "lacks status.takes, status.clock" in str(error)
    assert "{" not in str(error), "the whole object is not repeated"
    assert "templates/crds" in (error.hint or "")
    assert wait_after(error_kind(error), 20, Random(1)) <= 72


def test_other_refusals_stay_as_they_are() -> None:
    error, _ = refusal("status.phase: Unsupported value")

    assert not isinstance(error, LackingFieldError)
    assert str(error) == "status.phase: Unsupported value"
