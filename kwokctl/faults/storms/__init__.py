"""Storms of faults: what fails when over hours or days, planned from rates of failures before anything happens. Pure."""
