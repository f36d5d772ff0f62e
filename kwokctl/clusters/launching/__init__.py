"""Starting the components of a cluster: ports, waves, and readiness."""
