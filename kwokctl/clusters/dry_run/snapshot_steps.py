"""The dry runs of `snapshot save` and `restore`, as steps of a script."""

from pathlib import Path

from kwokctl.clusters.dry_run.launch_steps import in_cluster, outline, stopping
from kwokctl.clusters.dry_run.lifecycle_steps import Steps, start_saved_steps
from kwokctl.clusters.dry_run.program_steps import foreseen_programs
from kwokctl.clusters.snapshot import MARGIN, check_room, last_revision_of
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.clusters.tools import etcdctl_environment
from kwokctl.components.definitions import kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.etcd import snapshot_files
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES, FAULTS
from kwokctl.model import ETCD, ClusterName, State
from kwokctl.runtime import Runtime, WritesScripts
from kwokctl.script.posix_shell import joined, quoted
from kwokctl.script.steps import Assignment, Command, Comment, Folder, later


async def save_steps(home: Home, name: ClusterName, path: Path, *, force: bool) -> Steps:
    """Return what `save_snapshot` would do; etcdctl writes the same file."""
    saved = load(home.paths(name), name)
    await demand_running(home, home.runtime(saved.options.runtime), name, ETCD)
    snapshot_files.check_free(path, force=force)
    found = foreseen_programs(home, saved.options, ["etcdctl"])
    etcdctl = found.artifacts["etcdctl"].command[0]
    part = f"{path}.part"
    return (
        *found.steps,
        Comment("The file holds every Secret: only its owner may read it."),
        Command((etcdctl, "snapshot", "save", part), env=etcdctl_environment(home, name)),
        Command(("chmod", "600", part)),
        Command(("mv", part, str(path))),
    )


async def restore_steps(
    home: Home, name: ClusterName, path: Path, *, without_faults: bool = False
) -> Steps:
    """Return what `restore_snapshot` would do."""
    snapshot_files.verify(path)
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    setting = saved.setting(runtime, paths)
    snapshot_files.check_objects(path, kube_apiserver.prefix(setting))
    check_room(path, paths.root)
    plan = saved.plan(runtime, paths)
    if not isinstance(runtime, WritesScripts):
        return (Comment(f"Restore '{path}'."), *outline(plan, runtime, "stop"))
    left_out = await _left_out(home, saved, setting) if without_faults else ()
    return (
        in_cluster(paths),
        *await _prepared(home, runtime, saved, path),
        *stopping(plan, await runtime.script(plan)),
        *_exchanged(paths),
        *await start_saved_steps(home, runtime, saved, wait=0),
        *left_out,
        Comment("The API answers: the old data are not needed any more."),
        Command(("rm", "-rf", str(paths.etcd_before_restore))),
    )


async def _left_out(home: Home, saved: Saved, setting: Setting) -> Steps:
    """Return how the Faults of a snapshot are removed."""
    found = foreseen_programs(home, saved.options, ["etcdctl"])
    etcdctl, keys = found.artifacts["etcdctl"].command[0], Keys(kube_apiserver.prefix(setting))
    env = etcdctl_environment(home, saved.name)
    folders = [keys.folder(each).decode() for each in (FAULT_SCHEDULES, FAULTS, FAULT_PAGES)]
    return (
        Comment("The Faults are removed one by one, before controllers run."),
        *(Command((etcdctl, "del", "--prefix", each), env=env) for each in folders),
    )


async def _prepared(home: Home, runtime: Runtime, saved: Saved, path: Path) -> Steps:
    """Return how the new data are made beside the old, with revisions beyond the last one."""
    paths, needed = home.paths(saved.name), ["etcdctl", "etcdutl"]
    found = foreseen_programs(home, saved.options, needed)
    etcdctl, etcdutl = (found.artifacts[name].command[0] for name in needed)
    if (await runtime.states(saved.name)).get(ETCD) is State.RUNNING:
        ask = (etcdctl, "endpoint", "status", "--write-out", "json")
        status = joined(ask, etcdctl_environment(home, saved.name))
        pick = quoted(r's/.*"revision":\([0-9]*\).*/\1/p')
        revision = Assignment("revision", f"{status} | sed -n {pick}")
    else:
        last = await last_revision_of(runtime, saved.name, saved.setting(runtime, paths))
        revision = Assignment("revision", f"echo {last}")
    words = snapshot_files.restore_words(Path(etcdutl), path, paths.etcd_restored, later("bumped"))
    return (
        *found.steps,
        Comment("Clients must list again: revisions continue beyond the last one."),
        revision,
        Assignment("bumped", f"echo $((revision + {MARGIN}))"),
        Command(("rm", "-rf", str(paths.etcd_restored))),
        Command(tuple(words)),
    )


def _exchanged(paths: ClusterPaths) -> Steps:
    """Return how the restored data are put in place; the old data are kept."""
    return (
        Command(("rm", "-rf", str(paths.etcd_before_restore))),
        Command(("mv", str(paths.etcd_data), str(paths.etcd_before_restore))),
        Command(("mv", str(paths.etcd_restored), str(paths.etcd_data))),
        Folder(paths.etcd_data),
    )
