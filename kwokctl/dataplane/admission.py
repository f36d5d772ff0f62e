"""Which kinds are watched over by webhooks, policies or quotas, that writes to etcd would pass by.

The API: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
(webhooks), .../validating-admission-policy/ and .../mutating-admission-policy/ (policies).
"""

from dataclasses import dataclass

import msgspec

from kwokctl.kube.resource import Resource

_GROUP = "admissionregistration.k8s.io"
_WEBHOOKS = (
    Resource(_GROUP, "v1", "validatingwebhookconfigurations",
             "ValidatingWebhookConfiguration", namespaced=False),
    Resource(_GROUP, "v1", "mutatingwebhookconfigurations",
             "MutatingWebhookConfiguration", namespaced=False),
)  # fmt: skip
_POLICIES = (
    Resource(_GROUP, "v1", "validatingadmissionpolicies",
             "ValidatingAdmissionPolicy", namespaced=False),
    Resource(_GROUP, "v1", "mutatingadmissionpolicies",
             "MutatingAdmissionPolicy", namespaced=False),
    Resource(_GROUP, "v1beta1", "mutatingadmissionpolicies",
             "MutatingAdmissionPolicy", namespaced=False),
)  # fmt: skip
WATCHED = (*_WEBHOOKS, *_POLICIES)
"""The kinds that say what is watched over; a cluster need not serve all of them."""
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", namespaced=True)


class _Rule(msgspec.Struct, rename="camel"):
    api_groups: list[str] | None = None
    resources: list[str] | None = None


class _Constraints(msgspec.Struct, rename="camel"):
    resource_rules: list[_Rule] | None = None


class _Webhook(msgspec.Struct):
    rules: list[_Rule] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    match_constraints: _Constraints | None = None


class _Metadata(msgspec.Struct):
    name: str


class _Configuration(msgspec.Struct):
    metadata: _Metadata
    webhooks: list[_Webhook] | None = None
    spec: _Spec | None = None


_decode = msgspec.json.Decoder(_Configuration).decode


@dataclass(frozen=True, slots=True)
class AdmissionControl:
    """Something that is asked, or that decides, when objects of certain kinds are written."""

    name: str
    """What it is and what it is called, for people: "ValidatingWebhookConfiguration 'x'"."""
    rules: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """API groups and resources without subresources; `*` means all."""

    def applies_to(self, resource: Resource) -> bool:
        """Tell whether it applies to objects of a kind, or a subresource of theirs."""
        return any(
            not groups.isdisjoint({"*", resource.group})
            and not plurals.isdisjoint({"*", resource.plural})
            for groups, plurals in self.rules
        )


def read_admission_control(kind: str, raw: bytes | msgspec.Raw) -> AdmissionControl:
    """Read a webhook configuration or an admission policy."""
    found = _decode(raw)
    rules = [rule for hook in found.webhooks or () for rule in hook.rules or ()]
    if found.spec is not None and found.spec.match_constraints is not None:
        rules += found.spec.match_constraints.resource_rules or ()
    return AdmissionControl(
        name=f"{kind} '{found.metadata.name}'",
        rules=tuple(
            (
                frozenset(rule.api_groups or ()),
                frozenset(plural.partition("/")[0] for plural in rule.resources or ()),
            )
            for rule in rules
        ),
    )
