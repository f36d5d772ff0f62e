"""What is due when, and jobs that wait for a free worker."""
