"""Options of clusters by their names, as they are given."""

from typing import Any

from kwokctl.components.catalog import usual_options
from kwokctl.config.options import ClusterOptions, spellings, value_of, with_values


def cluster_options(**given: Any) -> ClusterOptions:
    """Return the options of a cluster for which these were given."""
    return with_values(usual_options(), given)


def changed(options: ClusterOptions, **given: Any) -> ClusterOptions:
    """Return the same options but for these."""
    return with_values(options, given)


def option(options: ClusterOptions, name: str) -> Any:
    """Return the value of one option."""
    return value_of(options, next(each for each in spellings(options) if each.field == name))
