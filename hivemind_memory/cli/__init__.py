"""The command line: turns it into one call, and the result into text."""
