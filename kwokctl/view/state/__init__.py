"""The present state of a cluster and the last minutes of it, from the lines of a record. Bounded: it is kept for days."""
