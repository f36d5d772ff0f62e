"""Creates clusters that begin with the objects of another cluster."""
