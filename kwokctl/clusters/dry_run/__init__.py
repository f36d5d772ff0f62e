"""The steps of each command as a script, for `--dry-run`; nothing is changed, and no lock is taken."""
