"""The acts of arrivals: create objects, change or delete some, or list them."""
