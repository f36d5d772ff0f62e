"""Queues: keys with due times, and jobs that wait for a free worker."""
