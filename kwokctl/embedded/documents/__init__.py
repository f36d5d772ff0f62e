"""Documents that are custom resources of the cluster: follows them, reads them, says what is wrong."""
