"""Stages that are custom resources of the cluster, beside those of the configuration files."""
