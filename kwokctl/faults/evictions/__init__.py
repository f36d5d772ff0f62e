"""The forecast of evictions from silent nodes, as Kubernetes' node lifecycle controller decides them. Pure."""
