"""Files, processes, ports and folders of this machine; nothing here knows about clusters' verbs."""
