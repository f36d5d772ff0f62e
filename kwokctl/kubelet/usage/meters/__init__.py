"""What containers, pods and nodes use now, and have used so far."""
