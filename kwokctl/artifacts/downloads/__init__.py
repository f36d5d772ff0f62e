"""Programs from where their projects publish them."""
