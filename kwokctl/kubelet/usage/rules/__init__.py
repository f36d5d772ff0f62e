"""The rules of usage: the documents ResourceUsage and ClusterResourceUsage, and annotations."""
