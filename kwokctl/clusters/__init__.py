"""The verbs of kwokctl, one per module: what a command, a program or a test can do with clusters."""
