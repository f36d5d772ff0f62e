"""The engine of one kind of object: looks at it, waits for the delay of its Stage, writes, and looks again."""
