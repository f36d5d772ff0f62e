"""When components in Go collect garbage."""

from collections.abc import Mapping

from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError


def garbage_environment(options: ClusterOptions) -> Mapping[str, str]:
    """Return what tells a Go program by how much its heap may grow between two collections.

    The variable is described in https://pkg.go.dev/runtime. Raises UsageError for less than 1 percent.
    """
    if options.go_gc < 1:
        raise UsageError(
            f"'--go-gc' is '{options.go_gc}'",
            hint="give percent, 1 or more; Go's own choice is 100",
        )
    return {"GOGC": str(options.go_gc)}
