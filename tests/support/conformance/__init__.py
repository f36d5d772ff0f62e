"""Kubernetes' own e2e.test against a cluster of this checkout; not a part of `make test`."""
