"""The user's configuration as a whole: the files, what they amount to, and their newer spellings."""
