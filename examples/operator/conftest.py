"""Starts the operator and its webhooks once for all tests, and keeps it away while the cluster is rewound."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from shelf_operator import Operator
from webhooks import served

from kwokctl import Cluster
from kwokctl.pytest_plugin.webhooks import WebhookServer


@pytest.fixture(scope="session")
def operator(kwok_cluster: Cluster, kwok_webhook_server: WebhookServer) -> Iterator[Operator]:
    place = kwok_webhook_server
    running = Operator(kwok_cluster.kubeconfig)
    with served(place.host, place.port, place.folder):
        running.start()
        yield running
        running.stop()


@pytest.fixture(scope="session")
def kwok_paused(operator: Operator) -> Callable[[], AbstractContextManager[None]]:
    """The webhooks are served on: the API server converts what it shows while it is rewound."""

    @contextmanager
    def paused() -> Iterator[None]:
        operator.stop()
        yield
        operator.start()

    return paused
