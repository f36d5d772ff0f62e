"""The label of Leases that matter to all controllers that share nodes.

One watch with this label as its selector shows who the members are and which leases have changed
hands, and none of the renewals.
"""

LABEL = "kwokctl.dev/lease"
"""The values are those below; a node's lease has it from its change of hands to its next renewal."""
MOVED = "moved"
"""Of a node's lease."""
MEMBER = "member"
"""Of the lease that shows that a controller lives."""
OTHER_KINDS = "other-kinds"
"""Of the lease of the one member that plays kinds other than nodes and pods."""
