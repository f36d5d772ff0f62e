"""Downloads programs from the sites where their projects publish them."""

__all__ = ["download", "http_failures", "site_check"]
