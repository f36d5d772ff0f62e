"""Repairs of nodes: what starts them, how long they take, and which faults they end."""
