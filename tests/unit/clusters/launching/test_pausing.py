"""What may answer objects stands still while they are written, and nothing else does."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kwokctl.clusters.launching.pausing import answering
from kwokctl.config.extras.add_on_parts import AddOnParts, Webhooks
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.json_value import Json
from kwokctl.model import KUBE_APISERVER, ComponentName, Port
from tests.support.options import cluster_options

READS: Mapping[str, Json] = {"resources": ["pods"], "verbs": ["get", "list", "watch"]}
WRITES: Mapping[str, Json] = {"resources": ["pods"], "verbs": ["get", "patch"]}
HOOK = Webhooks(port="hook", services=("own",))
PORTS = (Port(name="http", port=80),)


def _own(*links: ComponentName, ports: tuple[Port, ...] = ()) -> ExtraComponent:
    return ExtraComponent(name=ComponentName("own"), links=frozenset(links), ports=ports)


def _of_add_on(*rules: Mapping[str, Json], webhooks: Webhooks | None = None) -> ExtraComponent:
    return replace(_own(), add_on=AddOnParts(name="own", rules=rules, webhooks=webhooks))


@pytest.mark.parametrize(
    ("extra", "in_etcd", "through_api"),
    [
        (_own(), False, False),
        (_own(KUBE_APISERVER), True, True),
        (_own(KUBE_APISERVER, ports=PORTS), True, False),
        (_of_add_on(READS), False, False),
        (_of_add_on(READS, WRITES), True, True),
        (_of_add_on(READS, WRITES, webhooks=HOOK), True, False),
        (replace(_own(), add_on=AddOnParts(name="own", cluster_roles=("admin",))), True, True),
    ],
)
def test_clients_that_may_change_objects_stand_still_unless_they_must_accept_them(
    extra: ExtraComponent, in_etcd: bool, through_api: bool
) -> None:
    options = replace(cluster_options(), extras=(extra,))

    assert answering(options, needs_webhooks=False) == [extra.name] * in_etcd
    assert answering(options, needs_webhooks=True) == [extra.name] * through_api
