"""Remote command: the streams of a command that runs for a client, as exec and attach have them."""
