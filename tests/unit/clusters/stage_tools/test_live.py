"""An object of a cluster is found by all names that people have for its kind."""

import pytest

from kwokctl.clusters.stage_tools.live import Target, object_at
from kwokctl.errors import UsageError
from tests.support.object_server import object_server


@pytest.mark.parametrize("kind", ["widget", "Widget", "widgets", "widgets.example.com"])
async def test_an_object_of_any_kind_is_found(kind: str) -> None:
    async with object_server() as (server, client):
        server.put("/apis/example.com/v1/namespaces/default/widgets", "a", kind="Widget")
        found = await object_at(client, Target(kind, "a", "default"))

    assert found["kind"] == "Widget"


async def test_a_kind_that_is_not_served_is_named_with_the_nearest_one() -> None:
    async with object_server() as (_, client):
        with pytest.raises(UsageError, match="serves no kind 'widgat'") as caught:
            await object_at(client, Target("widgat", "a", "default"))

    assert caught.value.hint == "did you mean 'widget'?"
