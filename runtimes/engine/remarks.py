"""Texts of an engine for people: what it says of itself, as `docker info` does, and why a container ended."""

from collections.abc import Mapping

from kwokctl.errors import NotFoundError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from runtimes.engine.engine_client import Engine

_NOT_RUN = (126, 127)
"""Exit codes of a program that could not be executed; others are the program's own business."""
_KILLED = 128 + 9
"""The exit code of a program that was ended by SIGKILL, which Windows has no name for."""
_MEBI = 1024 * 1024


async def remark_on(engine: Engine, container: str) -> str:
    """Explain why a container has ended, or how often it was restarted; empty without a reason."""
    try:
        inspected = await engine.ask("inspect_container", container)
    except NotFoundError:
        return ""
    why, again = _why(inspected), int(inspected.get("RestartCount") or 0)
    if not why and inspected["State"].get("ExitCode") in _NOT_RUN:
        why = await _misfit(engine, inspected["Image"])
    times = f"restarted {again} times" if again > 1 else "restarted once" if again else ""
    return "; ".join(filter(None, (times, why)))


def _why(inspected: Mapping[str, Json]) -> str:
    state, limit = inspected["State"], inspected["HostConfig"].get("Memory")
    memory = f"it exceeded its memory limit of {limit // _MEBI}Mi" if limit else ""
    if state.get("OOMKilled"):
        return f"killed: {memory or 'this machine had no memory left'}"
    # containerd reports the end and the lack of memory separately: Docker loses the second if it comes later.
    if state.get("ExitCode") == _KILLED and memory:
        return f"killed by SIGKILL: perhaps {memory}"
    return str(state.get("Error") or "")


async def _misfit(engine: Engine, image: str) -> str:
    """Return whether the image was made for another processor."""
    try:
        inspected = await engine.ask("inspect_image", image)
    except NotFoundError:
        return "its program cannot be run"
    own = (await engine.ask("version")).get("Arch")
    if own and inspected.get("Architecture") not in {own, "", None}:
        return f"its image is for {inspected['Architecture']}, and this engine runs {own}"
    return "its image has no program of its name that can be run here"


async def described(engine: Engine) -> str:
    """Return the versions and the settings of an engine, as it reports them."""
    version, info = await engine.ask("version"), await engine.info()
    return yaml.dump_all([{"endpoint": engine.endpoint.url, "version": version, "info": info}])
