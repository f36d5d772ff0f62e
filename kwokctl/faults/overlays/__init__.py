"""The fields of nodes and ResourceSlices that open faults show, over what lies beneath. Pure."""
