"""What `kwokctl status` shows: one look at a whole cluster, and what is wrong with it."""
