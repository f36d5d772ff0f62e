"""Writes as steps how the components of a cluster are launched, wave by wave, and stopped.

Of a runtime that does not write scripts an outline in comments says what it would do.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from kwokctl.clusters.dry_run.plumbing import plumbing
from kwokctl.clusters.launching.custom_resources import definitions
from kwokctl.clusters.launching.first_objects import first_objects, with_authority
from kwokctl.clusters.launching.probe_node import probe_node
from kwokctl.clusters.state.component_files import public_files
from kwokctl.clusters.state.saved import Saved
from kwokctl.config.extras.extra import MANIFESTS
from kwokctl.expr import yaml
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER
from kwokctl.model import Component, Plan
from kwokctl.runtime import BringsKubernetes, Runtime, RuntimeScript, WritesScripts
from kwokctl.script.posix_shell import quoted
from kwokctl.script.steps import (
    Action,
    Assignment,
    Command,
    Comment,
    Deadline,
    ShellLines,
    Until,
    later,
)
from kwokctl.waits import Standstill


class ScriptedLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster to be launched. Times are seconds."""

    saved: Saved
    plan: Plan
    paths: ClusterPaths
    work: RuntimeScript
    kubectl: str
    wait: float | None = None
    timeout: float | None = None


def in_cluster(paths: ClusterPaths) -> ShellLines:
    """Set the variable that functions of a script find a cluster by."""
    return ShellLines(f"cluster={quoted(str(paths.root))}")


def kubectl_of(found: Mapping[str, object]) -> str:
    """Return kubectl as a script calls it, of programs found or the PATH."""
    artifact = found.get("kubectl")
    command: tuple[str, ...] = getattr(artifact, "command", ())
    return command[0] if command else shutil.which("kubectl") or "kubectl"


def launching(launch: ScriptedLaunch) -> Iterator[Action]:
    """Yield all from the files of a cluster to its components, as `bring_up` has them."""
    yield in_cluster(launch.paths)
    yield Comment("The state of the cluster. Certificates, keys and tokens are made when it runs.")
    yield from public_files(launch.paths, launch.saved, launch.plan)
    yield plumbing(launch.saved.name, "credentials")
    yield Comment("How every component is started.")
    yield from launch.work.install()
    yield Command(("rm", "-f", str(launch.paths.stopped)))
    if launch.timeout:
        yield Deadline(launch.timeout)
    yield from _waves(launch)


def _waves(launch: ScriptedLaunch) -> Iterator[Action]:
    waves = list(launch.plan.waves())
    for wave in waves:
        names = [component.name for component in wave]
        yield from _needs(launch, wave)
        yield Comment(f"Start {', '.join(names)}.")
        yield from launch.work.start(*names)
        if wave is not waves[-1]:
            yield from _ready(launch, wave)
    if launch.wait is not None:
        yield Comment("Wait until all is ready.")
        if not isinstance(launch.wait, Standstill):
            yield Deadline(launch.wait)
        yield from _ready(launch, waves[-1], launch.wait)


def _ready(
    launch: ScriptedLaunch, components: Iterable[Component], wait: float | None = None
) -> Iterator[Action]:
    for component in components:
        for probe in component.ready:
            if isinstance(wait, Standstill):
                yield Deadline(wait)
            yield Until(probe, launch.work.running(component.name))


def _needs(launch: ScriptedLaunch, wave: Iterable[Component]) -> Iterator[Action]:
    """Yield the objects that components need before they start."""
    bodies = [each for component in wave for each in component.objects]
    if not bodies:
        return
    yield Comment("The objects that they need in the cluster.")
    authority = quoted(str(launch.paths.pki / "ca.crt"))
    yield Assignment("authority", f"base64 <{authority} | tr -d '\\n'")
    text = yaml.dump_all([dict(with_authority(each, later("authority"))) for each in bodies])
    yield _kubectl(launch, *_APPLY, "-f", "-", stdin=text)


_APPLY = ("apply", "--server-side", "--force-conflicts", f"--field-manager={FIELD_MANAGER}")


def cluster_objects(launch: ScriptedLaunch, *, is_new: bool) -> Iterator[Action]:
    """Yield how the kinds that the controller reads, and a new cluster's objects, come into it."""
    bodies = list(definitions(launch.saved))
    if bodies:
        yield _kubectl(launch, *_APPLY, "-f", "-", stdin=yaml.dump_all(bodies))
        names = (f"crd/{body['metadata']['name']}" for body in bodies)
        yield _kubectl(launch, "wait", "--for=condition=Established", *names)
    for body in first_objects(launch.saved) if is_new else ():
        yield _created(launch, body)


def probed(launch: ScriptedLaunch) -> Iterator[Action]:
    """Yield how a controller of another make is seen to play nodes."""
    node = probe_node(launch.saved, launch.wait)
    if node is None:
        return
    name = node["metadata"]["name"]
    limit = f"{launch.wait:g}s" if launch.wait else "-1s"
    yield _created(launch, node)
    yield _kubectl(launch, "wait", "--for=condition=Ready", f"--timeout={limit}", f"node/{name}")
    yield _kubectl(launch, "delete", "node", name)


def _created(launch: ScriptedLaunch, body: Json) -> Command:
    what = f"{body['kind'].lower()}/{body['metadata']['name']}"
    is_there = _kubectl(launch, "get", what).words
    return _kubectl(launch, "create", "-f", "-", stdin=yaml.dump(body), unless=is_there)


def _kubectl(
    launch: ScriptedLaunch, *words: str, stdin: str = "", unless: tuple[str, ...] = ()
) -> Command:
    own = f"--kubeconfig={launch.paths.kubeconfig}"
    return Command((launch.kubectl, own, *words), stdin=stdin, unless=unless)


def tidied(paths: ClusterPaths) -> Iterator[Action]:
    """Yield how the data are put in order that a restore has left which was killed."""
    if paths.etcd_before_restore.exists() and not paths.etcd_data.exists():
        yield Command(("mv", str(paths.etcd_before_restore), str(paths.etcd_data)))
    if paths.etcd_restored.exists():
        yield Command(("rm", "-rf", str(paths.etcd_restored)))


def stopping(plan: Plan, work: RuntimeScript) -> Iterator[Action]:
    """Yield how all components are stopped, each before those it uses."""
    for wave in plan.stop_waves():
        names = [component.name for component in wave]
        yield Comment(f"Stop {', '.join(names)}.")
        yield from work.stop(*names)


def context_of(saved: Saved, kubeconfig: Path | None) -> Iterator[Action]:
    """Yield how the context of a cluster is put into the user's kubeconfig."""
    if kubeconfig:
        yield plumbing(saved.name, "add-context", str(kubeconfig))


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
