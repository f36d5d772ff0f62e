"""What a user changes about single components: their arguments, variables and volumes."""
