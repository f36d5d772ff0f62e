"""Records the changes of objects, and replays them at their times."""
