"""Describes a container engine in text for people, as `docker version` and `docker info` do."""

from kwokctl.expr import yaml
from runtimes.engine.client import Engine


async def described(engine: Engine) -> str:
    """Return the versions and the settings of an engine, as it reports them."""
    version, info = await engine.ask("version"), await engine.info()
    return yaml.dump_all([{"endpoint": engine.endpoint.url, "version": version, "info": info}])
