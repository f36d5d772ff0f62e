"""The engine of one kind of object: it chooses a Stage, waits for its delay, plays it, and chooses again."""
