"""Components that a user describes in full, beside those of kwokctl: top-level `components`."""
