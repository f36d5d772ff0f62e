"""Who uses how much: the documents ResourceUsage and ClusterResourceUsage, and annotations."""
