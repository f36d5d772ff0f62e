"""Objects of a cluster: applying manifests, finding kinds, and waiting for conditions."""
