"""Which pods a node under pressure evicts: a pure function, and the task that calls it regularly."""
