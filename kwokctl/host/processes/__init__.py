"""Components as processes of this host: launched, stopped, inspected, and restarted on request."""
