"""What is chosen for a new cluster, and checked before anything is made."""
