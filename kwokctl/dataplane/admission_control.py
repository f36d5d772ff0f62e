"""Finds the kinds to which webhooks or policies apply, which writes to etcd would bypass.

The API: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
(webhooks), .../validating-admission-policy/ and .../mutating-admission-policy/ (policies).
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import EVENTS, Resource
from kwokctl.kube.transport.pool import Pool

_GROUP = "admissionregistration.k8s.io"
_WEBHOOKS = (
    Resource(_GROUP, "v1", "validatingwebhookconfigurations",
             "ValidatingWebhookConfiguration", namespaced=False),
    Resource(_GROUP, "v1", "mutatingwebhookconfigurations",
             "MutatingWebhookConfiguration", namespaced=False),
)  # fmt: skip
_POLICIES = tuple(
    Resource(_GROUP, version, f"{kind.lower()}admissionpolicies",
             f"{kind}AdmissionPolicy", namespaced=False)
    for kind in ("Validating", "Mutating")
    # Releases before 1.30 (validating) and 1.36 (mutating) have no v1 of them: k8s.io/api.
    for version in ("v1", "v1beta1", "v1alpha1")
)  # fmt: skip
WATCHED = (*_WEBHOOKS, *_POLICIES)
"""The kinds that configure admission; a cluster need not serve all of them."""
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", namespaced=True)

_ALSO_SERVED = {EVENTS: "events.k8s.io"}
"""The other API group that serves the same objects: a webhook or policy for it applies to all of them."""


class AdmissionControl(msgspec.Struct, frozen=True):
    """A webhook or policy that applies to writes of certain kinds."""

    name: str
    """Its kind and name, for people: "ValidatingWebhookConfiguration 'x'"."""
    rules: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """API groups and resources without subresources; `*` means all."""

    def applies_to(self, resource: Resource) -> bool:
        """Return whether it applies to objects of a kind, or to one of their subresources."""
        served = {"*", resource.group, _ALSO_SERVED.get(resource, resource.group)}
        return any(
            not groups.isdisjoint(served) and not plurals.isdisjoint({"*", resource.plural})
            for groups, plurals in self.rules
        )


def read_admission_control(kind: str, raw: bytes | msgspec.Raw) -> AdmissionControl:
    """Read a webhook configuration or an admission policy."""
    found: Json = msgspec.json.decode(raw)
    rules = [rule for hook in found.get("webhooks") or () for rule in hook.get("rules") or ()]
    constraints = (found.get("spec") or {}).get("matchConstraints") or {}
    rules += constraints.get("resourceRules") or ()
    return AdmissionControl(
        name=f"{kind} '{found['metadata']['name']}'",
        rules=tuple(
            (
                frozenset(rule.get("apiGroups") or ()),
                frozenset(plural.partition("/")[0] for plural in rule.get("resources") or ()),
            )
            for rule in rules
        ),
    )


class AdmissionWatch:
    """The existing webhooks and policies, as far as the watches have shown.

    The bindings of policies are not checked: a policy counts from the moment it exists.
    """

    def __init__(self, pool: Pool, changed: Callable[[], None]) -> None:
        """Watch through `pool`; call `changed` whenever webhooks or policies may have come or gone."""
        self._pool = pool
        self._changed = changed
        self._found: dict[tuple[Resource, str], AdmissionControl] = {}
        self._pending = set(WATCHED)
        self._known = asyncio.Event()

    def on(self, resource: Resource) -> list[str]:
        """Return the names of the webhooks and policies that apply to a kind."""
        return sorted(
            control.name for control in self._found.values() if control.applies_to(resource)
        )

    async def known(self) -> None:
        """Wait until webhooks and policies of every kind have been listed once."""
        await self._known.wait()

    async def follow(self, resource: Resource) -> None:
        """Follow the objects of one of the kinds `WATCHED` until cancelled.

        Returns where the cluster does not serve that kind. Raises ApiError if it refuses to list
        them.
        """
        try:
            await self._follow(resource)
        except ApiError as e:
            if e.status != 404:
                raise
            self._listed(resource)

    async def _follow(self, resource: Resource) -> None:
        def decode(raw: bytes | msgspec.Raw) -> AdmissionControl:
            return read_admission_control(resource.kind, raw)

        async with aclosing(watch(self._pool, resource, decoder=decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        self._listed(resource)
                    elif event.type is EventType.DELETED:
                        self._found.pop((resource, event.object.name), None)
                    else:
                        self._found[resource, event.object.name] = event.object
                self._changed()

    def _listed(self, resource: Resource) -> None:
        self._pending.discard(resource)
        if not self._pending:
            self._known.set()
