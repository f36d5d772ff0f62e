"""What `kwokctl doctor` finds out: what is wrong with this machine, and with a cluster, and what helps."""
