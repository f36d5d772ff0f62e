"""What a cluster keeps in its folder."""
