"""Sets of objects in a cluster in memory, scaled as `kwokctl scale` does."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from kwokctl.clusters.scaling.context import ScaleContext
from kwokctl.clusters.scaling.objects.stored_texts import TextStore
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.set_size import scale_set
from kwokctl.clusters.state.resource_templates import load_templates
from kwokctl.config.config_documents import Document
from kwokctl.config.data_path import Choice
from kwokctl.tasks import beside
from tests.support import virtual_time
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster


def scale(
    cluster: MemoryCluster,
    listener: Listener | None = None,
    *,
    interrupt_after: int | None = None,
    meanwhile: Coroutine[object, None, None] | None = None,
    template: str = "",
    companions: Sequence[Mapping[str, str]] = (),
    remembered: TextStore | None = None,
    **request: Any,
) -> ScaleResult:
    """Scale; `interrupt_after` so many objects have been made or deleted, it is cancelled.

    `template` is one of the user's own, called `own`, with its `companions`.
    """
    documents = [own_template(template, companions)] if template else []
    listener = listener or Listener()
    context = ScaleContext(
        reader=cluster,
        plane=cluster,
        progress=listener,
        wall=lambda: 0.0,
        choice=Choice(path="api", why="asked for"),
        parameters=remembered,
    )

    async def run() -> ScaleResult:
        task = asyncio.current_task()
        assert task is not None
        if interrupt_after is not None:
            listener.on_advance = lambda done: task.cancel() if done == interrupt_after else None
        async with beside(*filter(None, [meanwhile])):
            return await scale_set(ScaleRequest(**request), load_templates(documents), context)

    return virtual_time.run(run())


def own_template(text: str, companions: Sequence[Mapping[str, str]] = ()) -> Document:
    version, kind = "config.kwok.x-k8s.io/v1alpha1", "KwokctlResource"
    body: Any = {
        "metadata": {"name": "own"}, "template": text, "companions": list(map(dict, companions)),
    }  # fmt: skip
    return Document(kind=kind, api_version=version, name="own", body=body, source="own.yaml")


def running(body: dict[str, Any]) -> None:
    body["status"] = {"phase": "Running"}


def ready(body: dict[str, Any]) -> None:
    body["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}


class Asked:
    """Answers questions, and keeps them."""

    def __init__(self, *, answer: bool) -> None:
        self.questions: list[str] = []
        self._answer = answer

    async def __call__(self, question: str) -> bool:
        self.questions.append(question)
        return self._answer
