"""CustomResourceDefinitions of kinds whose controllers are absent: objects of them have any fields."""

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: {scope}
  names: {{plural: {plural}, singular: {singular}, kind: {kind}}}
  versions:
  - name: {version}
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
"""


def definition(
    group: str, version: str, kind: str, *, plural: str = "", scope: str = "Namespaced"
) -> str:
    """Return the document of a kind, with its end."""
    singular = kind.lower()
    return _DEFINITION.format(
        group=group, version=version, kind=kind, scope=scope,
        singular=singular, plural=plural or f"{singular}s",
    )  # fmt: skip
