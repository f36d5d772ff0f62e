"""The user's changes to single components: arguments, variables and volumes."""
