"""The HTTP port of the controller: its routes, which clients may use them, and what they answer."""
