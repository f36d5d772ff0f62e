"""The cluster as the controller sees it: watches, single reads, and the data plane to write through."""
