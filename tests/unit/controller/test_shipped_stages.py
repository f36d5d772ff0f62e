from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwokctl import assets
from kwokctl.config.documents import Document
from kwokctl.controller import patches
from kwokctl.controller.choice import basis, pick, seconds
from kwokctl.controller.functions import common
from kwokctl.controller.stage_reader import read_stages
from kwokctl.controller.stages import DeleteStep, PatchStep, Stage
from kwokctl.expr import yaml
from tests.support import golden

FOLDER = Path(__file__).parents[2] / "golden" / "stages"
NAMES = ("node-initialize", "pod-ready", "pod-ready-again", "pod-complete", "pod-delete")
CASES = sorted(path.name.removesuffix(".input.yaml") for path in FOLDER.glob("*.input.yaml"))


class First(Random):
    """Chance that always takes the lowest."""

    def uniform(self, a: float, b: float) -> float:
        return a


def shipped(name: str) -> Stage:
    (body,) = yaml.load_all(assets.text(f"stages/{name}.yaml"))
    document = Document(kind="Stage", api_version="", name=name, body=body, source=name)
    (stage,) = read_stages([document])
    return stage


def stub(name: str) -> Callable[..., str]:
    def call(*words: Any) -> str:
        return f"<{name}({', '.join(map(str, words))})>" if words else f"<{name}>"

    return call


def functions() -> Mapping[str, Any]:
    names = ("Now", "StartTime", "Version", "NodeIP", "NodeName", "NodePort", "NodeIPWith")
    return {
        **{name: stub(name) for name in names},
        "NodeConditions": common(lambda: 0.0)["NodeConditions"],
        "NodeIPsWith": lambda *words: [stub("NodeIPsWith")(*words)],
        "PodIPsWith": lambda *words: [stub("PodIPsWith")(*words)],
    }


def story(value: Any, stages: list[Stage]) -> list[dict[str, Any]]:
    """Tell which stage is chosen for an object, when, and what it does."""
    kind = [stage for stage in stages if stage.kind.name == value["kind"]]
    stage = pick(basis(kind, value), Random(1))
    if stage is None:
        return []
    told: dict[str, Any] = {"stage": stage.name}
    if stage.delay is not None:
        told["delay"] = seconds(stage.delay, value, 0.0, First())
        told["at most"] = stage.delay.bound
    for step in stage.steps:
        if isinstance(step, DeleteStep):
            told["delete"] = True
        if isinstance(step, PatchStep):
            document = step.template.render_object(value, functions())
            told["patch"] = {
                "type": step.type.name.lower(),
                "subresource": step.subresource,
                "body": patches.rooted(document, step.root, step.type),
            }
    return [told]


@pytest.mark.parametrize("heartbeat", ["node-heartbeat", "node-heartbeat-with-lease"])
@pytest.mark.parametrize("case", CASES)
def test_the_shipped_stages_do_what_they_are_known_for(case: str, heartbeat: str) -> None:
    value = yaml.load((FOLDER / f"{case}.input.yaml").read_text(encoding="utf-8"))
    stages = [shipped(name) for name in (*NAMES, heartbeat)]
    told = story(value, stages)
    is_beat = any(each["stage"] == heartbeat for each in told)

    suffix = f".{heartbeat}" if is_beat else ""
    golden.check(f"stages/{case}{suffix}.output.yaml", yaml.dump(told))


def test_there_are_cases() -> None:
    assert len(CASES) >= 10
