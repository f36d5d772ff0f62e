"""The dry run of `export logs`, as steps of a script."""

from pathlib import Path

from kwokctl.clusters.dry_run.lifecycle_steps import Steps
from kwokctl.clusters.dry_run.plumbing import plumbing
from kwokctl.clusters.inspection.export_logs import STATE, exported_state, parts_of, target_of
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.model import ClusterName
from kwokctl.script.steps import Comment, FileText, Folder


async def export_steps(home: Home, name: ClusterName, folder: Path | None) -> Steps:
    """Return what `export_logs` would do; ConflictError if there is an export already."""
    target = target_of(home, name, folder)
    saved = load(home.paths(name), name)
    parts = parts_of(saved, home.runtime(saved.options.runtime))
    return (
        Folder(target),
        FileText(target / STATE, exported_state(home, name), 0o600),
        Comment("kwokctl reads these where the runtime keeps them, and removes secrets from them."),
        *(plumbing(name, "export", part, str(target)) for part in parts if part != STATE),
    )
