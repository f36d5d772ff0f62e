"""The parts of scaling: requests, templates, members, creation, deletion and waiting."""
