"""One run: what is asked for, what is prepared, what is recorded while it goes on, and its end."""
