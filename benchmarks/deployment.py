"""The Deployment that is handed to the real scheduler."""

from typing import Any

_LABELS = {"app": "bench"}


def deployment(pods: int) -> dict[str, Any]:
    """Return a Deployment of pods that the scheduler must place."""
    container = {
        "name": "container-0",
        "image": "busybox",
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    template = {"metadata": {"labels": _LABELS}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bench"},
        "spec": {"replicas": pods, "selector": {"matchLabels": _LABELS}, "template": template},
    }
