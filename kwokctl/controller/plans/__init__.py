"""Plans: Stage steps that were proven once for all pods of a shape, so that only differences are computed."""
