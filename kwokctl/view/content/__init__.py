"""Makes the items of the page from the present state of a cluster. Pure."""
