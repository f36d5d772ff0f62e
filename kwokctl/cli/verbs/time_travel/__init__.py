"""`snapshot`, and `create --from`: states of clusters that are kept, brought back, and copied."""
