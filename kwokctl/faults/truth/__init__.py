"""The log of faults: what happened to which unit and when, its signals for sinks, and what is still to come. Pure."""
