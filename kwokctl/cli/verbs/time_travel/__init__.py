"""`snapshot`, and `create --from`: save states of clusters, restore them, and copy them."""
