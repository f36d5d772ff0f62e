"""Effects on this machine; the modules do not know who calls them."""
