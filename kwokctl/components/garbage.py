"""When components in Go collect garbage."""

from collections.abc import Mapping

from kwokctl.config.options import ClusterOptions


def garbage_environment(options: ClusterOptions) -> Mapping[str, str]:
    """Return what tells a Go program by how much its heap may grow between two collections.

    The variable is described in https://pkg.go.dev/runtime.
    """
    return {"GOGC": str(options.arguments.go_gc)}
