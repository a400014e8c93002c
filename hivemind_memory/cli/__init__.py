"""A door: turns a command line into one call, and its result into text."""
