"""Whether a user may do what a load does, before it does it."""

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Right(msgspec.Struct, frozen=True):
    """A right that is needed."""

    verb: str
    resource: Resource
    namespace: str = ""
    """Empty for all namespaces, and for a kind without any."""
    subresource: str = ""

    def __str__(self) -> str:
        below = f"/{self.subresource}" if self.subresource else ""
        within = f" in the namespace '{self.namespace}'" if self.namespace else ""
        return f"{self.verb} {self.resource.plural}{below}{within}"


class _Status(msgspec.Struct):
    allowed: bool = False
    reason: str = ""


class _Review(msgspec.Struct):
    status: _Status


async def lacks(client: Client, right: Right) -> bool:
    """Return whether the API server would refuse it; False where it does not say."""
    resource = right.resource
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {
                "verb": right.verb,
                "group": resource.group,
                "version": resource.version,
                "resource": resource.plural,
                "subresource": right.subresource,
                "namespace": right.namespace if resource.namespaced else "",
            }
        },
    }
    try:
        answer = await client.call("POST", _REVIEWS, msgspec.json.encode(review))
    except ApiError as e:
        if e.status == 404:
            return False
        raise
    return not msgspec.json.decode(answer, type=_Review).status.allowed
