"""Commands that are run before and after the loads of a run."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from kwokctl.host import process
from kwokctl.load.load_documents import Load
from kwokctl.progress import Progress


def commands(loads: Sequence[Load], when: str) -> Iterator[str]:
    """Yield the commands of all loads, `before` or `after`."""
    for load in loads:
        yield from getattr(load.spec.hooks, when)


async def run_hooks(
    loads: Sequence[Load], when: str, kubeconfig: Path | None, progress: Progress
) -> None:
    """Run commands one after the other; CommandError for the first that fails. They end with this process, even by SIGKILL."""
    env = {"KUBECONFIG": str(kubeconfig)} if kubeconfig else None
    for command in commands(loads, when):
        with progress.step(command):
            await process.run_leashed(*shlex.split(command), env=env)
