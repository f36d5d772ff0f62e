"""Outlines in comments what a runtime would do that does not write scripts."""

from collections.abc import Iterator
from pathlib import Path

from kwokctl.clusters.state.saved import Saved
from kwokctl.config.extras.extra import MANIFESTS
from kwokctl.model import Plan
from kwokctl.runtime import BringsKubernetes, Runtime, WritesScripts
from kwokctl.script.steps import Action, Comment


def outline(plan: Plan, runtime: Runtime, verb: str) -> Iterator[Action]:
    """Yield what happens to the components of a plan, with their number."""
    names = ", ".join(plan.components)
    if not isinstance(runtime, WritesScripts):
        yield Comment(
            f"What the runtime '{runtime.name}' does cannot be written as a script; this is an outline."
        )
    yield Comment(f"{verb} cluster '{plan.cluster}' of {len(plan.components)} components: {names}")
    if isinstance(runtime, BringsKubernetes):
        yield from _by_maker(plan, runtime, verb)


def lacking_parts(saved: Saved) -> Comment | None:
    """Say which add-ons have programs or manifests that are not on this machine; None if none has.

    Without them there is no script: which objects there are is not known.
    """
    found = (
        extra.add_on.name
        for extra in saved.options.extras
        if extra.add_on
        for name in (extra.name, f"{extra.name}{MANIFESTS}")
        if (artifact := saved.artifacts.get(name))
        and artifact.command
        and not Path(artifact.command[0]).exists()
    )
    names = ",".join(dict.fromkeys(found))
    if not names:
        return None
    return Comment(
        f"The Go modules of the add-ons are not on this machine; this is an outline. "
        f"For a script get them first: kwokctl artifacts pull --enable {names}"
    )


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
