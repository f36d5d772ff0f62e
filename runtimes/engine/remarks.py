"""What an engine's account of a container tells a person."""

from collections.abc import Mapping

from kwokctl.errors import NotFoundError
from kwokctl.json_value import Json
from runtimes.engine.client import Engine

_NOT_RUN = (126, 127)
"""Exit codes of a program that could not be executed; others are the program's own business."""
_MEBI = 1024 * 1024


async def remark_on(engine: Engine, container: str) -> str:
    """Tell why a container has ended, or how often it began anew; empty if there is nothing to tell."""
    try:
        told = await engine.ask("inspect_container", container)
    except NotFoundError:
        return ""
    why, again = _why(told), int(told.get("RestartCount") or 0)
    if not why and told["State"].get("ExitCode") in _NOT_RUN:
        why = await _misfit(engine, told["Image"])
    times = f"restarted {again} times" if again > 1 else "restarted once" if again else ""
    return "; ".join(filter(None, (times, why)))


def _why(told: Mapping[str, Json]) -> str:
    state = told["State"]
    if state.get("OOMKilled"):
        limit = told["HostConfig"].get("Memory")
        if limit:
            return f"killed: it exceeded its memory limit of {limit // _MEBI}Mi"
        return "killed: this machine had no memory left"
    return str(state.get("Error") or "")


async def _misfit(engine: Engine, image: str) -> str:
    """Tell whether the image was made for another processor."""
    try:
        told = await engine.ask("inspect_image", image)
    except NotFoundError:
        return "its program cannot be run"
    own = (await engine.ask("version")).get("Arch")
    if own and told.get("Architecture") not in {own, "", None}:
        return f"its image is for {told['Architecture']}, and this engine runs {own}"
    return "its image has no program of its name that can be run here"
