"""Says how often all nodes are asked what they use: a round through many takes longer."""

from kwokctl.config.options import ClusterOptions, spellings, value_of, with_values

SECONDS = 15
_SECONDS_FOR_MANY, _MANY = 60, 5000
_OPTIONS = frozenset({"metrics_server_resolution", "prometheus_interval"})


def settle_rounds(options: ClusterOptions) -> ClusterOptions:
    """Fill in for a new cluster what its user left open."""
    if options.objects.nodes < _MANY:
        return options
    known = [each for each in spellings(options) if each.field in _OPTIONS]
    unset = [each.field for each in known if not value_of(options, each)]
    return with_values(options, dict.fromkeys(unset, _SECONDS_FOR_MANY))
