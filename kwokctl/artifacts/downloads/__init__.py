"""Downloads programs from the sites where their projects publish them."""
