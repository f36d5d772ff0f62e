"""Gets kubectl, etcdctl and etcdutl of a cluster once it runs: no component needs them.

Where they have to be built that is a good part of all the work, and a cluster can be used meanwhile.
"""

import shutil
from collections.abc import Sequence

from kwokctl.artifacts.resolve_programs import stored
from kwokctl.clusters.programs.needed import TOOLS, prefixes, programs, wanted_program
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.components.catalog import catalog
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import KwokctlError
from kwokctl.model import ClusterName

_TOGETHER = (("kubectl",), ("etcdctl", "etcdutl"))
"""The tools of each release: those of one are fetched even if those of another cannot be."""


def tools_of(options: ClusterOptions) -> list[str]:
    """Return the tools that go with a cluster; kubectl of the PATH will do.

    Where all programs were given nothing else is fetched.
    """
    required = [options.component(each.name) for each in catalog().values() if each.is_required]
    if all(each.binary or each.image for each in required):
        return []
    return [tool for tool in TOOLS if tool != "kubectl" or not shutil.which(tool)]


async def lacking_tools(home: Home, options: ClusterOptions) -> tuple[str, ...]:
    """Return the tools that are not on this machine; ArtifactError for a path that leads nowhere."""
    tools = tools_of(options)
    wanted = [wanted_program(options, tool) for tool in tools]
    found = await stored(wanted, cache=home.cache, prefixes=prefixes(options))
    return tuple(tool for tool in tools if tool not in found)


async def get_tools(home: Home, name: ClusterName, lacking: Sequence[str]) -> tuple[str, ...]:
    """Fetch or build the tools of a cluster that runs; return those that cannot be provided now.

    A warning says why: the cluster is as good without them.
    """
    missing: list[str] = []
    home.progress.note(
        f"the cluster '{name}' can be used now; {_listed(lacking)} {'comes' if len(lacking) == 1 else 'come'} last"
    )
    for each in _TOGETHER:
        if not (tools := [tool for tool in each if tool in lacking]):
            continue
        try:
            await programs(home, load(home.paths(name), name).options, tools)
        except KwokctlError as e:
            missing += tools
            why = f"{e}; {e.hint}" if e.hint else str(e)
            home.progress.warn(
                f"the cluster '{name}' runs, but without {_listed(tools)}, which the first "
                f"command that uses one tries to get again: {why}"
            )
    return tuple(missing)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
