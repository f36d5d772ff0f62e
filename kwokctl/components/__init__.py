"""Pure descriptions of the control plane's programs."""
