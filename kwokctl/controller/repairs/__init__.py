"""Repairs nodes as custom resources of the kinds Repair and RepairPolicy say."""
