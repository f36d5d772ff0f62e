"""Images of nodes and of what runs in them."""
