"""Which kinds of requests are watched, and what the log says of those that the cluster does not serve."""

import asyncio
from collections.abc import Mapping
from random import Random
from typing import Any, cast

import msgspec
import pytest

from kwokctl.controller.repairs.request_triggers import MOST_KINDS, RequestTriggers
from kwokctl.errors import NotFoundError
from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.kube.client import Client
from tests.support import virtual_time


class Serving:
    """A cluster that serves none of the kinds, and notes which it was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def resource_for(self, api_version: str, kind: str) -> Any:
        self.asked.add(kind)
        raise NotFoundError(f"this cluster does not serve '{kind}'", hint="it serves v1")


def policy(*kinds: str) -> RepairPolicySpec:
    triggers = [
        {"action": "reboot", "request": {"apiVersion": "a/v1", "kind": kind}} for kind in kinds
    ]
    return msgspec.convert({"triggers": triggers}, RepairPolicySpec)


def followed(*steps: Mapping[str, RepairPolicySpec]) -> set[str]:
    """Follow what these policies name, one after the other; return the kinds that were asked for."""
    cluster = Serving()

    async def main() -> None:
        triggers = RequestTriggers(cast("Client", cluster), lambda: None, Random(1))
        running = asyncio.create_task(triggers.run())
        for policies in steps:
            triggers.watch_for(policies)
            await asyncio.sleep(20)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    virtual_time.run(main())
    return cluster.asked


def test_of_kinds_that_are_not_served_the_log_names_a_few(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps = [{"p": policy(*(f"K{step}x{number}" for number in range(20)))} for step in range(5)]

    assert len(followed(*steps)) == 100

    said = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert len([each for each in said if "does not serve 'K" in each]) == 5
    assert len(said) == 6
    assert "are not logged" in said[-1]


def test_a_kind_that_is_not_served_is_named_with_what_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    followed({"p": policy("RebootNode")})

    [said] = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert "does not serve 'RebootNode'" in said
    assert "it serves v1" in said


def test_of_too_many_kinds_the_first_are_watched_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    many = {f"p-{number}": policy(*(f"K{number}x{n}" for n in range(60))) for number in range(3)}

    asked = followed(many, {**many, "q": policy("K")})

    assert len(asked) == MOST_KINDS
    assert {f"K0x{number}" for number in range(60)} < asked
    said = [each.message for each in caplog.records if "only the first 100" in each.message]
    assert len(said) == 1
    assert "name 180 kinds" in said[0]
