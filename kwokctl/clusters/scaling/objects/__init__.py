"""The objects of a set before they are written: their templates, names, networks and addresses."""
