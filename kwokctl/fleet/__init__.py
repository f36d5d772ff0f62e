"""The model of a fleet: where a node stands in racks, networks and zones, by its position alone. Pure."""
