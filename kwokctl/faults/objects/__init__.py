"""The objects Fault and FaultPage: their fields, rows and status. Pure."""
