"""Which pods a node evicts that is short of something: a pure function, and what calls it regularly."""
