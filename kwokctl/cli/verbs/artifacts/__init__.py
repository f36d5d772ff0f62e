"""`artifacts`: the programs and images that clusters run."""
