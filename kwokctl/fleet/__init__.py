"""The model of a fleet: where its nodes stand, the devices that they have, and what pods say of theirs. Pure."""
