from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import DeleteStep, PatchStep, Stage
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.controller.stages.selectors import Known
from kwokctl.controller.stages.stage_choice import basis, pick, seconds
from kwokctl.controller.stages.stage_functions import common
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate.template import Template
from kwokctl.expr.jq.query import JqQuery
from tests.support import golden
from tests.support.shipped_stages import shipped

FOLDER = Path(__file__).parents[2] / "golden" / "stages"
CASES = sorted(path.name.removesuffix(".input.yaml") for path in FOLDER.glob("*.input.yaml"))


class First(Random):
    """Chance that always takes the lowest."""

    def uniform(self, a: float, b: float) -> float:
        return a


def stub(name: str) -> Callable[..., str]:
    def call(*words: Any) -> str:
        return f"<{name}({', '.join(map(str, words))})>" if words else f"<{name}>"

    return call


def functions() -> Mapping[str, Any]:
    names = (
        "Now",
        "StartTime",
        "Version",
        "NodeIP",
        "NodeName",
        "NodePort",
        "KubeletAddress",
        "NodeIPWith",
    )
    return {
        **{name: stub(name) for name in names},
        **{name: stub(name) for name in ("ContainerID", "ImageID", "UUIDFor")},
        "NodeConditions": common(lambda: 0.0)["NodeConditions"],
        "KubeletFeatures": lambda: [stub("KubeletFeatures")()],
        "NodeIPsWith": lambda *words: [stub("NodeIPsWith")(*words)],
        "PodIPsWith": lambda *words: [stub("PodIPsWith")(*words)],
    }


def story(value: Any, stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Tell which stage is chosen for an object, when, and what it does."""
    kind = [stage for stage in stages if stage.kind.name == value["kind"]]
    stage = pick(basis(kind, value), Random(1))
    if stage is None:
        return []
    result: dict[str, Any] = {"stage": stage.name}
    if stage.delay is not None:
        result["delay"] = seconds(stage.delay, value, 0.0, First())
        result["at most"] = stage.delay.bound
    for step in stage.steps:
        if isinstance(step, DeleteStep):
            result["delete"] = True
        if isinstance(step, PatchStep):
            # As text: there the keys of a mapping are always in the same order.
            assert isinstance(step.template, Template)
            document = yaml.load(step.template.render(value, functions()))
            result["patch"] = {
                "type": step.type.name.lower(),
                "subresource": step.subresource,
                "body": rooted(document, step.root, step.type),
            }
    return [result]


@pytest.mark.parametrize(
    ("heartbeat", "lease_seconds"), [("node-heartbeat", 0), ("node-heartbeat-with-lease", 40)]
)
@pytest.mark.parametrize("case", CASES)
def test_the_shipped_stages_have_their_documented_effect(
    case: str, heartbeat: str, lease_seconds: int
) -> None:
    value = yaml.load((FOLDER / f"{case}.input.yaml").read_text(encoding="utf-8"))
    steps = story(value, shipped(lease_seconds=lease_seconds))
    is_beat = any(each["stage"] == heartbeat for each in steps)

    suffix = f".{heartbeat}" if is_beat else ""
    golden.check(f"stages/{case}{suffix}.output.yaml", yaml.dump(steps))


def test_there_are_cases() -> None:
    assert len(CASES) >= 10


def test_a_pod_that_runs_is_looked_at_without_the_interpreter_of_jq() -> None:
    """It takes a hundred times as long, and a controller that starts looks at every pod."""
    pod = yaml.load((FOLDER / "pod-running.input.yaml").read_text(encoding="utf-8"))
    pod["metadata"]["generation"] = 1
    stages = [stage for stage in shipped() if stage.kind.name == "Pod"]

    known: Known = {}
    assert not any(stage.matches(pod, known) for stage in stages)

    asked = [query for query in known if isinstance(query, JqQuery)]
    assert asked
    assert [query.source for query in asked if not query.is_compiled] == []
