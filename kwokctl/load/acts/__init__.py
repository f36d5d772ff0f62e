"""What one arrival does: it creates objects, changes or deletes some, or lists them."""
