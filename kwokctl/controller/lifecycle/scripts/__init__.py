"""What a shell does with a script, as far as that follows from the script alone: nothing is executed."""
