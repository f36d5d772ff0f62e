"""Finds out what writes past the API server would pass by in a running cluster."""

from kwokctl.dataplane.admission import find_guards, has_quota
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import Resource


async def obstacle(pool: Pool, resource: Resource, namespace: str | None) -> str | None:
    """Return why objects of a kind must go through the API, for people; None if they need not."""
    for guard in await find_guards(pool):
        if guard.watches(resource):
            return f"{guard.name} has a say on {resource.plural}"
    if namespace is not None and await has_quota(pool, namespace):
        return f"the namespace '{namespace}' has a ResourceQuota"
    return None
