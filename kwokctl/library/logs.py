"""Reads the log of a component as one text."""

from datetime import datetime

from kwokctl.clusters.logs import LineRange, component_logs
from kwokctl.clusters.state.home import Home
from kwokctl.model import ClusterName


async def log_lines(
    home: Home, name: ClusterName, component: str, tail: int | None, since: datetime | None
) -> str:
    """Return the wanted lines; NotFoundError if there is no such component."""
    wanted = LineRange(tail=tail, since=since)
    parts = component_logs(home, name, component, follow=False, wanted=wanted)
    return b"".join([part async for part in parts]).decode(errors="replace")
