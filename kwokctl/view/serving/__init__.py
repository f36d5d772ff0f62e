"""The web server of a view: who may see its page, the page itself, and the stream of what changes."""
