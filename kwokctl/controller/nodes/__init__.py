"""The nodes that this controller manages, and the addresses of their pods."""
