"""What scaling is made of: requests, templates, members, creation, deletion and waiting."""
