"""Chooses where a new cluster runs, where its user has left that open."""

from kwokctl.clusters.state.home import Home
from kwokctl.errors import UnavailableError
from kwokctl.runtime import Runtime

PREFERRED = ("binary", "docker")
"""Processes need no privileges, no engine and no images, and are the fastest; so they come first.

Where kind could run, containers can, in less time and memory; so it is only taken when asked for.
"""


async def choose_runtime(home: Home, asked: str) -> Runtime:
    """Return the runtime that was asked for, else the first that can run here, and tell which.

    Raises UnavailableError if the one asked for cannot run here, or none can; UsageError if there
    is none of that name.
    """
    if asked:
        runtime = home.runtime(asked)
        await runtime.check()
        return runtime
    missing: list[UnavailableError] = []
    for name in PREFERRED:
        runtime = home.runtime(name)
        try:
            await runtime.check()
        except UnavailableError as e:
            missing.append(e)
            continue
        if missing:
            home.progress.note(f"runtime: {name} ({missing[0]})")
        return runtime
    raise UnavailableError(
        "clusters cannot run on this machine: " + "; ".join(str(e) for e in missing),
        hint=missing[-1].hint,
    )
