"""The user's configuration: its files, the values in effect, and the conversion of old spellings."""
