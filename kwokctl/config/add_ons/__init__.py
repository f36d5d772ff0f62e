"""Add-ons: folders that describe further components of clusters, which `--enable` adds."""
