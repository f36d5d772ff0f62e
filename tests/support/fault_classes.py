"""Classes of faults whose signals come at once."""

from kwokctl.json_value import Json
from kwokctl.kube.resource import FAULT_CLASSES


def shown_at_once(name: str, **signal: Json) -> dict[str, Json]:
    """Return the class of a fault of a node that shows this signal until it is cleared."""
    return {
        "apiVersion": FAULT_CLASSES.api_version,
        "kind": FAULT_CLASSES.kind,
        "metadata": {"name": name},
        "spec": {
            "summary": "Shows its signal at once",
            "layer": "node",
            "scope": "node",
            "severity": "fatal",
            "causes": ["hardware"],
            "lifetime": "live",
            "clearedBy": ["cause-ends"],
            "signals": {"npd": [{"pollInterval": "0s", **signal}]},
        },
    }
