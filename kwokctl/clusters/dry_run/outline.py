"""Outlines in comments what a runtime would do that does not write scripts."""

from collections.abc import Iterator

from kwokctl.model import Plan
from kwokctl.runtime import BringsKubernetes, Runtime
from kwokctl.script.steps import Action, Comment


def outline(plan: Plan, runtime: Runtime, verb: str) -> Iterator[Action]:
    """Yield what happens to the components of a plan, with their number."""
    names = ", ".join(plan.components)
    yield Comment(f"The runtime '{runtime.name}' is not written as a script; this is an outline.")
    yield Comment(f"{verb} cluster '{plan.cluster}' of {len(plan.components)} components: {names}")
    if isinstance(runtime, BringsKubernetes):
        yield from _by_maker(plan, runtime, verb)


def _by_maker(plan: Plan, runtime: BringsKubernetes, verb: str) -> Iterator[Action]:
    maker, node = runtime.maker, f"kwok-{plan.cluster}-control-plane"
    tool = runtime.node_images.engine.tool
    lines = {
        "create": f"{maker} create cluster --name kwok-{plan.cluster} --config FILE --image IMAGE",
        "start": f"{tool} start {node}",
        "stop": f"{tool} stop {node}",
        "delete": f"{maker} delete cluster --name kwok-{plan.cluster}",
    }
    yield Comment(lines[verb])
    for wave in plan.waves() if verb in {"create", "start"} else plan.stop_waves():
        yield Comment(f"{verb}: {', '.join(component.name for component in wave)}")
