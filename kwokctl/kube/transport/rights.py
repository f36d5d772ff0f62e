"""Rights that a user lacks, as the API server's authorizer names them."""

import re

import msgspec

from kwokctl.errors import RequestError

_REFUSAL = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) '
    r'resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
)
_FORBIDDEN = 403


class MissingRight(msgspec.Struct, frozen=True):
    """A right that a user does not have."""

    user: str
    verb: str
    resource: str
    """With its group, as kubectl writes it: `pods/status`, `leases.coordination.k8s.io`."""

    @property
    def remedy(self) -> str:
        """The advice with which an administrator can grant it."""
        return (
            f"grant it: 'kubectl create clusterrole NAME --verb={self.verb} "
            f"--resource={self.resource}', and bind that to '{self.user}'"
        )


def missing_right(error: RequestError) -> MissingRight | None:
    """Return the right that was missing for a request; None if it failed for another reason.

    Admission answers 403 as well, for instance where a quota is exceeded.
    """
    return right_in(str(error)) if error.status == _FORBIDDEN else None


def right_in(message: str) -> MissingRight | None:
    """Return the right that a message says is missing."""
    found = _REFUSAL.search(message)
    if found is None:
        return None
    plural, slash, sub = found["resource"].partition("/")
    name = f"{plural}.{found['group']}" if found["group"] else plural
    return MissingRight(found["user"], found["verb"], f"{name}{slash}{sub}")
