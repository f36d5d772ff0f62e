"""Objects of a file into a cluster: checked, put in order, and written."""
