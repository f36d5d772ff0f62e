"""The HTTP port of the controller: its routes, who may use them, and what they answer."""
