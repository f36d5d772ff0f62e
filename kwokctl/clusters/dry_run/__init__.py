"""What each command would do, as steps of a script; nothing is made, not even a lock."""
