"""Lists all components: each module in `definitions` defines one."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from kwokctl.components import definitions
from kwokctl.components.cluster_identities import ADMIN, add_on_identity, administrator
from kwokctl.components.definition import Definition
from kwokctl.config.options import ClusterOptions
from kwokctl.model import ComponentName, Identity


@cache
def catalog() -> Mapping[ComponentName, Definition]:
    """Return the definition of every component, by name."""
    modules = sorted(module.name for module in iter_modules(definitions.__path__))
    found = [import_module(f"{definitions.__name__}.{name}").DEFINITION for name in modules]
    return {definition.name: definition for definition in found}


@cache
def usual_options() -> ClusterOptions:
    """Return the options of a cluster for which none was given."""
    return ClusterOptions(components=tuple(each.options() for each in catalog().values()))


def requested(options: ClusterOptions) -> list[ComponentName]:
    """Return the components that options name, whether or not others leave them out again."""
    choice = options.selection
    by_port = [
        name
        for name, each in catalog().items()
        if each.is_added_by_port and options.component(name).port
    ]
    by_option = [name for name, each in catalog().items() if each.is_added(options)]
    return [*map(ComponentName, (*choice.components, *choice.added)), *by_port, *by_option]


def clients(options: ClusterOptions) -> tuple[ComponentName, ...]:
    """Return the components that dial the API server, each with a token of its own."""
    own = (each.name for each in catalog().values() if each.is_client)
    return (*own, *(each.name for each in options.extras if each.add_on))


def identities(options: ClusterOptions) -> tuple[Identity, ...]:
    """Return every identity of a cluster, with the names its server certificate must carry.

    Those of a component that is optional exist only where it was requested.
    """
    present = {*usual_options().selection.components, *requested(options)}
    theirs = (each.identities(options) for each in catalog().values() if each.name in present)
    of_add_ons = (add_on_identity(options, each) for each in options.extras if each.add_on)
    return (administrator(), *(identity for each in theirs for identity in each), *of_add_ons)


def token_holders(options: ClusterOptions) -> frozenset[str]:
    """Name the identities that show a token to the API server; a person's kubeconfig has a certificate."""
    return frozenset({ADMIN, *clients(options)})
