"""Components as static pods of the node."""
