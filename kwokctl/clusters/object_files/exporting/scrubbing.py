"""Prepares the rules of an export or a recording for the objects of one cluster.

The rules are applied by `rules.applying`. Secrets are left out without any rule, in `choice`.
"""

from kwokctl.clusters.object_files.exporting.choice import definitions_of
from kwokctl.clusters.object_files.rules.applying import Scrubber
from kwokctl.clusters.object_files.rules.field_names import custom_fields
from kwokctl.clusters.object_files.rules.schema import TWIN, SnapshotRules
from kwokctl.kube.client import Client
from kwokctl.kube.served_kinds import ServedKinds


async def scrubber_of(
    client: Client, served: ServedKinds, rules: SnapshotRules | None, salt: str
) -> Scrubber | None:
    """Return what applies rules to objects; None without rules.

    A twin hides every name in a custom resource that its definition does not declare. Where the caller
    may not see definitions, those are all names.
    """
    if rules is None:
        return None
    definitions = await definitions_of(client, served) if rules.base == TWIN else []
    return Scrubber(rules, salt, custom_fields(definitions))
