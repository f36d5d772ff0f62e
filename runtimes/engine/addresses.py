"""Finds the addresses of containers."""

from runtimes.engine.client import Engine


async def address_of(engine: Engine, container: str) -> str:
    """Return the IPv4 address at which this host dials a container; empty for one that does not run."""
    inspected = await engine.ask("inspect_container", container)
    networks = (inspected.get("NetworkSettings") or {}).get("Networks") or {}
    return next((one["IPAddress"] for one in networks.values() if one.get("IPAddress")), "")
